package extension

import (
	"crypto/tls"
	"encoding/base64"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/test/client/pki"
)

// A hook is a webhook server that records requests, decoded as Q. Tests can change its response at
// any time.
type hook[Q any] struct {
	*httptest.Server
	bundle string // CA of its certificate, as in configurations
	decode func(r *http.Request, body []byte) Q

	mu     sync.Mutex
	asked  []Q
	answer func(q Q, w http.ResponseWriter, r *http.Request)
}

// newHook returns a hook with an open listener on an IP address. The caller must start the server.
// Its certificate is valid for 127.0.0.1 and for names.
func newHook[Q any](t testing.TB, ip string, decode func(r *http.Request, body []byte) Q, answer func(q Q, w http.ResponseWriter, r *http.Request), names []string) *hook[Q] {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		t.Fatal(err)
	}
	ca := pki.Authority(t, "webhooks")
	h := &hook[Q]{bundle: base64.StdEncoding.EncodeToString(pki.PEM(ca.Leaf)), decode: decode, answer: answer}
	h.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}}
	h.TLS = &tls.Config{Certificates: []tls.Certificate{pki.Server(t, ca, append(names, "127.0.0.1")...)}, ClientAuth: tls.RequestClientCert}
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h
}

func (h *hook[Q]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	q := h.decode(r, body)
	h.mu.Lock()
	h.asked = append(h.asked, q)
	answer := h.answer
	h.mu.Unlock()
	answer(q, w, r)
}

func (h *hook[Q]) set(answer func(q Q, w http.ResponseWriter, r *http.Request)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

func (h *hook[Q]) take() []Q {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.asked
	h.asked = nil
	return asked
}
