package kubeconfig

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
)

// A Credential authenticates a client. It is safe for concurrent use. A nil Credential is valid and
// does not authenticate.
type Credential struct {
	user   user
	issuer *issuer // obtains credentials that are not in the file; nil if none are needed
}

// newCredential returns the credential of a user. It validates the user's fields, but runs no
// credential plugin. c is passed to plugins and may be nil.
func newCredential(u user, c *cluster, programs Programs) (*Credential, error) {
	credential := &Credential{user: u}
	switch {
	case u.Exec != nil && u.Provider != nil:
		return nil, fmt.Errorf("user %q has both exec and auth-provider", u.name)
	case u.Exec != nil:
		p, err := newPlugin(u, c, programs)
		if err != nil {
			return nil, fmt.Errorf("user %q: exec.%w", u.name, err)
		}
		credential.issuer = &issuer{fetch: p.run}
	case u.Provider != nil:
		p, err := newProvider(u, programs)
		if err != nil {
			return nil, fmt.Errorf("user %q: auth-provider.%w", u.name, err)
		}
		credential.issuer = &issuer{fetch: p.token}
	}
	_, certificateErr := u.pair()
	_, headerErr := u.authorization()
	if err := errors.Join(certificateErr, headerErr); err != nil {
		return nil, fmt.Errorf("user %q: %w", u.name, err)
	}
	return credential, nil
}

// Authorization returns the value of the Authorization header for the next request, or "".
func (c *Credential) Authorization(ctx context.Context) (string, error) {
	i, err := c.issued(ctx)
	if err != nil {
		return "", err
	}
	return c.authorization(i)
}

func (c *Credential) authorization(i *issued) (string, error) {
	if c == nil {
		return "", nil
	}
	header, err := c.user.authorization()
	if err == nil && header == "" && i != nil && i.token != "" {
		header = "Bearer " + i.token
	}
	return header, err
}

// Certificate returns the client certificate for the next connection, or nil.
func (c *Credential) Certificate(ctx context.Context) (*tls.Certificate, error) {
	i, err := c.issued(ctx)
	if err != nil {
		return nil, err
	}
	return c.certificate(i)
}

func (c *Credential) certificate(i *issued) (*tls.Certificate, error) {
	if c == nil {
		return nil, nil
	}
	pair, err := c.user.pair()
	if err == nil && pair == nil && i != nil {
		pair = i.certificate
	}
	return pair, err
}

func (c *Credential) mayHaveCertificate() bool {
	return c.issuer != nil || c.user.Certificate != "" || c.user.CertificateData != "" || c.user.Key != "" || c.user.KeyData != ""
}

func (c *Credential) issued(ctx context.Context) (*issued, error) {
	if c == nil || c.issuer == nil {
		return nil, nil
	}
	return c.issuer.issued(ctx)
}
