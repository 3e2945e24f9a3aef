package kubeconfig

import (
	"bytes"
	"context"
	"crypto/tls"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

type issued struct {
	token       string
	certificate *tls.Certificate
	expires     time.Time // zero if unknown
}

// sameCertificate reports whether both certificates are equal. It ignores the keys, because each
// certificate contains its public key.
func (i *issued) sameCertificate(other *issued) bool {
	a, b := i.chain(), other.chain()
	return slices.EqualFunc(a, b, bytes.Equal)
}

func (i *issued) chain() [][]byte {
	if i == nil || i.certificate == nil {
		return nil
	}
	return i.certificate.Certificate
}

// An issuer caches an obtained credential until it expires or a server rejects it. Concurrent
// callers share one fetch.
type issuer struct {
	// fetch obtains a credential. refused is the credential that a server has rejected, or nil.
	fetch func(ctx context.Context, refused *issued) (*issued, error)

	group singleflight.Group

	mu      sync.Mutex // guards the fields below
	held    *issued    // nil if it must be fetched
	refused *issued
}

// issued returns the credential for the next request. A fetch continues after ctx ends, because
// other callers may wait for it.
func (s *issuer) issued(ctx context.Context) (*issued, error) {
	if held := s.current(); held != nil {
		return held, nil
	}
	got := s.group.DoChan("", func() (any, error) {
		if held := s.current(); held != nil {
			return held, nil
		}
		s.mu.Lock()
		refused := s.refused
		s.mu.Unlock()
		i, err := s.fetch(context.WithoutCancel(ctx), refused)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.held, s.refused = i, nil
		s.mu.Unlock()
		return i, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-got:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*issued), nil
	}
}

func (s *issuer) current() *issued {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil && (s.held.expires.IsZero() || time.Now().Before(s.held.expires)) {
		return s.held
	}
	return nil
}

func (s *issuer) refuse(i *issued) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == i {
		s.held, s.refused = nil, i
	}
}
