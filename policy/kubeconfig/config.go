package kubeconfig

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// A Config is one context of a kubeconfig. It is safe for concurrent use. It reads referenced files
// when they are needed, so that rotated credentials take effect.
type Config struct {
	Server *url.URL // with the scheme http or https, and a host
	// TLS trusts the cluster's CA. Its GetClientCertificate returns the user's client certificate,
	// if there is one.
	TLS           *tls.Config
	Proxy         func(*http.Request) (*url.URL, error)
	Credential    *Credential
	Impersonation http.Header
	// Namespace is the namespace of the context, or "".
	Namespace          string
	DisableCompression bool
}

// Load loads the current context of the kubeconfig at path, for a process without a terminal. It
// fails if a required field or file is missing or invalid. It does not run credential plugins.
func Load(path string) (*Config, error) { return Rules{Path: path}.Load() }

// newConfig returns the Config of a cluster and a user. It reads all referenced files once, to
// detect errors early.
func newConfig(c cluster, u user, programs Programs) (*Config, error) {
	server, err := url.Parse(c.Server)
	if err != nil || server.Host == "" || server.Scheme != "https" && server.Scheme != "http" {
		return nil, errors.New("server is not an http or https URL")
	}
	config := &Config{Server: server, DisableCompression: c.DisableCompression, Impersonation: u.impersonation()}
	if config.Impersonation != nil && u.As == "" {
		return nil, errors.New("as-uid, as-groups and as-user-extra require as")
	}
	if config.TLS, err = c.tls(); err != nil {
		return nil, err
	}
	if config.Proxy, err = c.proxy(); err != nil {
		return nil, err
	}
	if config.Credential, err = newCredential(u, &c, programs); err != nil {
		return nil, err
	}
	if config.Credential.mayHaveCertificate() {
		config.TLS.GetClientCertificate = config.Credential.clientCertificate
	}
	return config, nil
}

// clientCertificate is called for each TLS handshake, so that a new certificate takes effect.
func (c *Credential) clientCertificate(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return orNone(c.Certificate(info.Context()))
}

// orNone returns pair, or an empty certificate for nil, as tls.Config.GetClientCertificate
// requires.
func orNone(pair *tls.Certificate, err error) (*tls.Certificate, error) {
	if err == nil && pair == nil {
		pair = &tls.Certificate{}
	}
	return pair, err
}

// Transport returns a Transport for the user's requests. base creates the underlying transports.
// Transport replaces their TLS, proxy and compression settings.
func (c *Config) Transport(base func() *http.Transport) *Transport {
	t := NewTransport(func() *http.Transport {
		b := base()
		b.TLSClientConfig, b.Proxy, b.DisableCompression = c.TLS.Clone(), c.Proxy, c.DisableCompression
		return b
	}, func() *Credential { return c.Credential })
	t.header, t.insecure = c.Impersonation, c.TLS != nil && c.TLS.InsecureSkipVerify
	return t
}

func (u user) impersonation() http.Header {
	if u.As == "" && u.AsUID == "" && len(u.AsGroups) == 0 && len(u.AsExtra) == 0 {
		return nil
	}
	h := http.Header{"Impersonate-User": {u.As}}
	if u.AsUID != "" {
		h.Set("Impersonate-Uid", u.AsUID)
	}
	for _, group := range u.AsGroups {
		h.Add("Impersonate-Group", group)
	}
	for name, values := range u.AsExtra {
		for _, value := range values {
			h.Add("Impersonate-Extra-"+escapeHeader(name), value)
		}
	}
	return h
}

// escapeHeader percent-encodes characters that a header name must not contain.
func escapeHeader(name string) string {
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.':
			b = append(b, c)
		default:
			b = fmt.Appendf(b, "%%%02X", c)
		}
	}
	return string(b)
}

// Bearer returns the user's bearer token, or "" if there is none. If the user has a password
// instead, it returns an error, because the caller supports only tokens.
func (c *Config) Bearer(ctx context.Context) (string, error) {
	header, err := c.Credential.Authorization(ctx)
	if err != nil || header == "" {
		return "", err
	}
	const scheme = "Bearer "
	if len(header) < len(scheme) || header[:len(scheme)] != scheme {
		return "", errors.New("the user has a password, but only certificates and tokens are supported")
	}
	return header[len(scheme):], nil
}
