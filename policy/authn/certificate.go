package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Certificates authenticates requests with client certificates. The common name is the user name,
// and the organizations are the groups. If uids is set, attribute 1.3.6.1.4.1.57683.2 is the uid.
// The certificate must be issued by a CA in roots and be valid for client authentication. roots
// must return a new pool when the CAs change.
//
// The TLS handshake only proves possession of the key (tls.RequestClientCert), so an invalid
// certificate causes a 401, not a connection error.
func Certificates(roots func() *x509.CertPool, naming *meta.Naming, now func() time.Time, uids bool) Authenticator {
	return newVerifier(roots, now, certificateUser(naming, uids))
}

// CredentialID is the key in User.Extra for the ID of the credential. The key is in the platform
// naming profile and must be translated.
const CredentialID = "authentication.platform.io/credential-id"

var uidAttribute = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

func certificateUser(naming *meta.Naming, uids bool) func(*x509.Certificate) (*User, error) {
	key := naming.Translate(CredentialID)
	return func(leaf *x509.Certificate) (*User, error) {
		if leaf.Subject.CommonName == "" {
			return nil, errors.New("client certificate has no user name")
		}
		uid := ""
		if uids {
			var err error
			if uid, err = subjectUID(leaf); err != nil {
				return nil, err
			}
		}
		sum := sha256.Sum256(leaf.Raw)
		return &User{
			Name: leaf.Subject.CommonName, UID: uid, Groups: leaf.Subject.Organization,
			Extra: map[string][]string{key: {"X509SHA256=" + hex.EncodeToString(sum[:])}},
		}, nil
	}
}

func subjectUID(leaf *x509.Certificate) (uid string, err error) {
	for _, attribute := range leaf.Subject.Names {
		if !attribute.Type.Equal(uidAttribute) {
			continue
		}
		text, ok := attribute.Value.(string)
		if !ok || text == "" || uid != "" {
			return "", errors.New("client certificate must have exactly one uid, a string")
		}
		uid = text
	}
	return uid, nil
}

type verifier struct {
	roots  func() *x509.CertPool
	now    func() time.Time
	userOf func(leaf *x509.Certificate) (*User, error)
	pool   atomic.Pointer[verifiedPool]
}

// A verifiedPool caches the certificates verified with one CA pool.
type verifiedPool struct {
	pool     *x509.CertPool
	verified *Cache[verifiedCertificate]
}

// A verifiedCertificate is a cached verification result. While it is valid, signatures are not
// checked again.
type verifiedCertificate struct {
	user                *User
	notBefore, notAfter time.Time // latest notBefore and earliest notAfter in the chain
}

func (v *verifiedCertificate) valid(now time.Time) bool {
	return !now.Before(v.notBefore) && now.Before(v.notAfter)
}

// A connCertificate is a connection's verified certificate. It is valid only for one verifiedPool.
type connCertificate struct {
	verifiedPool *verifiedPool
	leaf         *x509.Certificate
	verifiedCertificate
}

const maxCertificates = 4096

func newVerifier(roots func() *x509.CertPool, now func() time.Time, read func(*x509.Certificate) (*User, error)) *verifier {
	return &verifier{roots: roots, now: now, userOf: read}
}

// currentPool returns the cache for the current CA pool. If concurrent requests each create a
// cache, the last one stays in use.
func (v *verifier) currentPool() *verifiedPool {
	pool := v.roots()
	t := v.pool.Load()
	if t == nil || t.pool != pool {
		t = &verifiedPool{pool, NewCache[verifiedCertificate](maxCertificates, v.now)}
		v.pool.Store(t)
	}
	return t
}

func (v *verifier) Authenticate(r Request) (*User, error) {
	certs, conn := r.Certs, r.ConnCache
	if len(certs) == 0 {
		return nil, nil
	}
	t, now := v.currentPool(), v.now()
	if conn == nil {
		conn = &ConnCache{}
	}
	if m := &conn.certificate; m.verifiedPool == t && m.leaf == certs[0] && m.valid(now) {
		return m.user, nil
	}
	known, err := v.lookup(t, certs, now)
	if err != nil {
		return nil, err
	}
	conn.certificate = connCertificate{t, certs[0], known}
	return known.user, nil
}

func (v *verifier) lookup(t *verifiedPool, certs []*x509.Certificate, now time.Time) (verifiedCertificate, error) {
	digest := Digest(sha256.Sum256(certs[0].Raw))
	if known, ok := t.verified.Get(digest); ok && known.valid(now) {
		return known, nil
	}
	chain, err := t.chain(certs, now)
	if err != nil {
		return verifiedCertificate{}, err
	}
	user, err := v.userOf(certs[0])
	if err != nil {
		return verifiedCertificate{}, err
	}
	found := verifiedCertificate{user, certs[0].NotBefore, certs[0].NotAfter}
	for _, cert := range chain {
		if cert.NotBefore.After(found.notBefore) {
			found.notBefore = cert.NotBefore
		}
		if cert.NotAfter.Before(found.notAfter) {
			found.notAfter = cert.NotAfter
		}
	}
	user.ValidUntil = found.notAfter
	t.verified.Put(digest, found, found.notAfter)
	return found, nil
}

func (t *verifiedPool) chain(certs []*x509.Certificate, now time.Time) ([]*x509.Certificate, error) {
	if t.pool == nil { // x509 would use the system's CAs instead
		return nil, errors.New("client certificate: no CA is configured")
	}
	intermediates := x509.NewCertPool()
	for _, cert := range certs[1:] {
		intermediates.AddCert(cert)
	}
	chains, err := certs[0].Verify(x509.VerifyOptions{
		Roots: t.pool, Intermediates: intermediates, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, fmt.Errorf("client certificate: %w", err)
	}
	return chains[0], nil
}
