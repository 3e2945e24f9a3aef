package kubeconfig

import (
	"crypto/tls"
	"io"
	"net/http"
	"sync"
)

// A Transport sends requests with a credential. After a 401 it gets a new one, and sends the request once more if it got
// another one and the request can be repeated. Where the certificate is another than before, requests go over new connections; those that
// are under way end over the old ones.
type Transport struct {
	base       func() *http.Transport
	credential func() *Credential
	header     http.Header // of every request

	mu      sync.Mutex // guards the rest
	current *http.Transport
	proved  *issued // what the connections of current were made with
}

// NewTransport makes a Transport. base makes what the connections are made with, and is called for each certificate. credential
// is asked before each request.
func NewTransport(base func() *http.Transport, credential func() *Credential) *Transport {
	return &Transport{base: base, credential: credential}
}

// RoundTrip sends a request. A header Authorization that it has already stays.
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
		return answer, nil // the answer says what is wrong
	}
	_, _ = io.CopyN(io.Discard, answer.Body, maxOutput) // so that the connection can be used again
	answer.Body.Close()
	return t.send(again, c, fresh)
}

// send sends a request with a credential, of which an issuer may have given a part.
func (t *Transport) send(r *http.Request, c *Credential, proved *issued) (*http.Response, error) {
	authorization, err := c.authorization(proved)
	if err != nil {
		return nil, closing(r, err)
	}
	if own := r.Header.Get("Authorization"); own == "" && authorization != "" || t.header != nil {
		r = r.Clone(r.Context())
		if own == "" && authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		for name, values := range t.header {
			r.Header[name] = values
		}
	}
	return t.transport(c, proved).RoundTrip(r)
}

// closing closes the body of a request that is not sent, as the contract of http.RoundTripper wants.
func closing(r *http.Request, err error) error {
	if r.Body != nil {
		r.Body.Close()
	}
	return err
}

// repeatable is a request with a fresh body; false if there is none.
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

// transport is the one whose connections are made with a credential.
//
// What a program has given is used for the handshake, too, so that it is not run again for that.
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

// CloseIdleConnections closes the connections that are kept.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil {
		t.current.CloseIdleConnections()
	}
}
