package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Certificates authenticates by client certificate: the subject's common name is the
// user's name, its organizations are the groups. The certificate must be issued by one of
// roots, must be valid at the time that now tells, and must allow client authentication.
//
// The TLS handshake only asks for a certificate and checks that the client holds its key
// (tls.RequestClientCert): a bad certificate gets an answer, 401, instead of a broken
// connection.
func Certificates(roots *x509.CertPool, now func() time.Time) Authenticator {
	return &certificates{roots: roots, now: now, known: map[fingerprint]verified{}}
}

type certificates struct {
	roots *x509.CertPool
	now   func() time.Time

	mu    sync.RWMutex // guards known
	known map[fingerprint]verified
}

type fingerprint [sha256.Size]byte

// A verified certificate needs no second look at its signatures while it is valid.
type verified struct {
	user                *User
	notBefore, notAfter time.Time // the narrowest of its chain
}

// maxKnown bounds the memory for verified certificates; verifying one again is all that
// it costs to forget one.
const maxKnown = 4096

func (c *certificates) Authenticate(r Request) (*User, error) {
	if len(r.Certs) == 0 {
		return nil, nil
	}
	now := c.now()
	sum := fingerprint(sha256.Sum256(r.Certs[0].Raw))
	c.mu.RLock()
	v, ok := c.known[sum]
	c.mu.RUnlock()
	if ok && !now.Before(v.notBefore) && !now.After(v.notAfter) {
		return v.user, nil
	}
	v, err := c.verify(r.Certs, now)
	if err != nil {
		return nil, err
	}
	c.remember(sum, v)
	return v.user, nil
}

func (c *certificates) verify(certs []*x509.Certificate, now time.Time) (verified, error) {
	leaf := certs[0]
	intermediates := x509.NewCertPool()
	for _, cert := range certs[1:] {
		intermediates.AddCert(cert)
	}
	chains, err := leaf.Verify(x509.VerifyOptions{
		Roots:         c.roots,
		Intermediates: intermediates,
		CurrentTime:   now,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return verified{}, fmt.Errorf("authn: client certificate: %w", err)
	}
	if leaf.Subject.CommonName == "" {
		return verified{}, errors.New("authn: client certificate names no user")
	}
	v := verified{
		user:      &User{Name: leaf.Subject.CommonName, Groups: leaf.Subject.Organization},
		notBefore: leaf.NotBefore,
		notAfter:  leaf.NotAfter,
	}
	for _, cert := range chains[0] {
		if cert.NotBefore.After(v.notBefore) {
			v.notBefore = cert.NotBefore
		}
		if cert.NotAfter.Before(v.notAfter) {
			v.notAfter = cert.NotAfter
		}
	}
	return v, nil
}

func (c *certificates) remember(sum fingerprint, v verified) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxKnown {
		clear(c.known)
	}
	c.known[sum] = v
}
