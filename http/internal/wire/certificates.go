package wire

import (
	"crypto/sha256"
	"crypto/x509"
	"runtime"
	"sync"
	"weak"
)

// certificates deduplicates the certificates of connected clients. Without it, TLS would keep a
// parsed copy for each connection, and a client may open one connection per watch. A certificate is
// dropped when its last connection ends.
type certificates struct {
	mu    sync.Mutex // guards known
	known map[[sha256.Size]byte]weak.Pointer[x509.Certificate]
}

// share replaces certificates with equal ones that are already known. It modifies the slice in
// place, because the TLS connection keeps the same slice. Call it before other code uses the slice.
func (s *certificates) share(of []*x509.Certificate) []*x509.Certificate {
	for i, c := range of {
		of[i] = s.canonical(c)
	}
	return of
}

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

// forget removes a garbage-collected certificate, unless an equal one has been added since.
func (s *certificates) forget(digest [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[digest].Value() == nil {
		delete(s.known, digest)
	}
}
