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

// issued is a credential that was got from elsewhere: a token, a certificate or both.
type issued struct {
	token       string
	certificate *tls.Certificate
	expires     time.Time // zero: it says nothing of that
}

// sameCertificate tells whether both prove the same by a certificate. A new key has a new certificate, as that holds its
// public half.
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

// An issuer keeps what it has got from elsewhere until that expires or a server refuses it. However many want it at the same
// time, it is got once.
type issuer struct {
	// fetch gets a credential. refused is the one that a server has refused; nil if none was.
	fetch func(ctx context.Context, refused *issued) (*issued, error)

	group singleflight.Group

	mu      sync.Mutex // guards the rest
	held    *issued    // nil: to be got
	refused *issued
}

// issued is the credential for the next request.
//
// Getting it goes on when the one who waits for it gives up, as others may wait, too.
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

// current is what is held and has not expired; nil if there is none.
func (s *issuer) current() *issued {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil && (s.held.expires.IsZero() || time.Now().Before(s.held.expires)) {
		return s.held
	}
	return nil
}

// refuse drops what a server has refused, if it is still held.
func (s *issuer) refuse(i *issued) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == i {
		s.held, s.refused = nil, i
	}
}
