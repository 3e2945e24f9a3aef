package kubeconfig

import (
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"sync"
)

// A Transport sends requests with a credential. If a server responds with 401, it obtains a new
// credential. If the new credential differs, it repeats the request where possible. A changed
// certificate applies to new connections, while requests in flight finish on the old ones.
type Transport struct {
	base       func() *http.Transport
	credential func() *Credential
	header     http.Header // added to every request
	insecure   bool        // allows credentials over plain HTTP to other machines

	mu      sync.Mutex // guards the fields below
	current *http.Transport
	proved  *issued // credential of the connections of current
}

// NewTransport returns a Transport. It calls base to create the underlying transport for each
// certificate, and credential before each request.
func NewTransport(base func() *http.Transport, credential func() *Credential) *Transport {
	return &Transport{base: base, credential: credential}
}

// RoundTrip sends a request with the current credential. It does not replace an existing
// Authorization header.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	c := t.credential()
	proved, err := c.issued(r.Context())
	if err != nil {
		return nil, closing(r, err)
	}
	answer, err := t.send(r, c, proved)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || proved == nil {
		return answer, err
	}
	c.issuer.refuse(proved)
	again, ok := repeatable(r)
	if !ok {
		return answer, nil
	}
	fresh, err := c.issued(r.Context())
	if err != nil || fresh.token == proved.token && fresh.sameCertificate(proved) {
		return answer, nil // the response explains the failure
	}
	_, _ = io.CopyN(io.Discard, answer.Body, maxOutput) // allows reuse of the connection
	answer.Body.Close()
	return t.send(again, c, fresh)
}

func (t *Transport) send(r *http.Request, c *Credential, proved *issued) (*http.Response, error) {
	authorization, err := c.authorization(proved)
	if err != nil {
		return nil, closing(r, err)
	}
	if authorization != "" && r.URL.Scheme == "http" && !t.insecure && !isLoopback(r.URL.Hostname()) {
		return nil, closing(r, fmt.Errorf("refused to send credentials over plain HTTP to %s; "+
			"use an https server, or set insecure-skip-tls-verify", r.URL.Host))
	}
	if own := r.Header.Get("Authorization"); own == "" && authorization != "" || t.header != nil {
		r = r.Clone(r.Context())
		if own == "" && authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		maps.Copy(r.Header, t.header)
	}
	return t.transport(c, proved).RoundTrip(r)
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// closing closes the body of an unsent request, as http.RoundTripper requires, and returns err.
func closing(r *http.Request, err error) error {
	if r.Body != nil {
		r.Body.Close()
	}
	return err
}

func repeatable(r *http.Request) (*http.Request, bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, false
	}
	again := r.Clone(r.Context())
	again.Body = body
	return again, true
}

// transport returns the underlying transport for a credential. TLS handshakes use the certificate
// of proved, the credential of the current request, so that a credential plugin does not run again.
func (t *Transport) transport(c *Credential, proved *issued) *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil && !proved.sameCertificate(t.proved) {
		t.current.CloseIdleConnections()
		t.current = nil
	}
	if t.current == nil {
		t.current, t.proved = t.base(), proved
		if proved != nil {
			t.current.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return orNone(c.certificate(proved))
			}
		}
	}
	return t.current
}

// CloseIdleConnections closes the idle connections of the current transport.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil {
		t.current.CloseIdleConnections()
	}
}
