package kubeconfig

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
)

// A Credential is what a client proves itself with. Many goroutines may use it. nil proves nothing.
type Credential struct {
	user   user
	issuer *issuer // gives what the file does not; nil if the file gives it all
}

// newCredential is the credential of a user. Programs get to know the cluster, if there is one. Nothing is run or asked
// yet, but what the file says is checked.
func newCredential(u user, c *cluster, programs Programs) (*Credential, error) {
	credential := &Credential{user: u}
	switch {
	case u.Exec != nil && u.Provider != nil:
		return nil, fmt.Errorf("user %q has exec and auth-provider, of which only one can be used", u.name)
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

// Authorization is the Authorization header for the next request; "" is none.
func (c *Credential) Authorization(ctx context.Context) (string, error) {
	i, err := c.issued(ctx)
	if err != nil {
		return "", err
	}
	return c.authorization(i)
}

// authorization is the header, with what the issuer has given.
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

// Certificate is the client certificate for the next connection; nil if there is none.
func (c *Credential) Certificate(ctx context.Context) (*tls.Certificate, error) {
	i, err := c.issued(ctx)
	if err != nil {
		return nil, err
	}
	return c.certificate(i)
}

// certificate is the client certificate, with what the issuer has given.
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

// mayHaveCertificate tells whether there is, or could come, a certificate.
func (c *Credential) mayHaveCertificate() bool {
	return c.issuer != nil || c.user.Certificate != "" || c.user.CertificateData != "" || c.user.Key != "" || c.user.KeyData != ""
}

// issued is what the credential's issuer gives; nil if there is no issuer.
func (c *Credential) issued(ctx context.Context) (*issued, error) {
	if c == nil || c.issuer == nil {
		return nil, nil
	}
	return c.issuer.issued(ctx)
}
