package wire

import (
	"crypto/sha256"
	"crypto/x509"
	"runtime"
	"sync"
	"weak"
)

// certificates deduplicates the certificates of connected clients. A client opens a connection per
// watch, and TLS parses and holds a copy of its certificate for each. A certificate is dropped with
// its last connection.
type certificates struct {
	mu    sync.Mutex // guards known
	known map[[sha256.Size]byte]weak.Pointer[x509.Certificate]
}

// share replaces certificates by known equal ones. It modifies the slice in place because TLS holds
// the same one, so it must run before others get it.
func (s *certificates) share(of []*x509.Certificate) []*x509.Certificate {
	for i, c := range of {
		of[i] = s.canonical(c)
	}
	return of
}

// canonical returns the known certificate equal to c, or adds c.
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

// forget is the cleanup of a certificate. An equal one may have been added meanwhile.
func (s *certificates) forget(digest [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[digest].Value() == nil {
		delete(s.known, digest)
	}
}
