package wire

import (
	"crypto/sha256"
	"crypto/x509"
	"runtime"
	"sync"
	"weak"
)

// certificates are those of all clients that are connected, each once: a client opens a connection for each of its watches, and TLS
// parses its certificate anew, and holds it, for each of them. One that no connection holds any longer is forgotten.
type certificates struct {
	mu    sync.Mutex // guards known
	known map[[sha256.Size]byte]weak.Pointer[x509.Certificate]
}

// share replaces each certificate of a connection by an equal one, if there is one. The slice is the one that TLS holds as
// well, so it is done before anybody else asks the connection for it.
func (s *certificates) share(of []*x509.Certificate) []*x509.Certificate {
	for i, c := range of {
		of[i] = s.canonical(c)
	}
	return of
}

// canonical is the first of the certificates that are equal to c.
func (s *certificates) canonical(c *x509.Certificate) *x509.Certificate {
	digest := sha256.Sum256(c.Raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.known[digest].Value(); first != nil {
		return first
	}
	if s.known == nil {
		s.known = map[[sha256.Size]byte]weak.Pointer[x509.Certificate]{}
	}
	s.known[digest] = weak.Make(c)
	runtime.AddCleanup(c, s.forget, digest)
	return c
}

// forget is called when a certificate is garbage; another one that is equal may have come meanwhile.
func (s *certificates) forget(digest [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[digest].Value() == nil {
		delete(s.known, digest)
	}
}
