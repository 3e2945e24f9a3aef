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

// Certificates authenticates by client certificate. The common name is the user's name, the
// organizations are the groups, and attribute 1.3.6.1.4.1.57683.2, unless uids is false, is the
// uid. The certificate must be valid for client authentication at the time now and be issued by a
// CA in roots. roots is called for every request; a change must return another pool.
//
// The TLS handshake only proves possession of the key (tls.RequestClientCert), so that an invalid
// certificate gets a 401 rather than a broken connection.
func Certificates(roots func() *x509.CertPool, naming *meta.Naming, now func() time.Time, uids bool) Authenticator {
	return newVerifier(roots, now, certificateUser(naming, uids))
}

// CredentialID is the key, in platform form, of the extra that identifies the credential of a
// request.
const CredentialID = "authentication.platform.io/credential-id"

// uidAttribute is the type of the subject attribute with the user's uid.
var uidAttribute = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// certificateUser returns a function that reads the user of a certificate.
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

// subjectUID returns the uid in the subject of a certificate, or "".
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

// A verifier checks that a certificate was issued by one of the current CAs, and returns its user.
type verifier struct {
	roots  func() *x509.CertPool
	now    func() time.Time
	userOf func(leaf *x509.Certificate) (*User, error)
	pool   atomic.Pointer[verifiedPool]
}

// A verifiedPool caches the certificates that were verified with one pool of CAs.
type verifiedPool struct {
	pool     *x509.CertPool
	verified *Cache[verifiedCertificate]
}

// A verifiedCertificate needs no second check of its signatures while it is valid.
type verifiedCertificate struct {
	user                *User
	notBefore, notAfter time.Time // the latest and the earliest of its chain
}

func (v *verifiedCertificate) valid(now time.Time) bool {
	return !now.Before(v.notBefore) && now.Before(v.notAfter)
}

// A connCertificate was verified for this connection with the CAs of that pool.
type connCertificate struct {
	verifiedPool *verifiedPool
	leaf         *x509.Certificate
	verifiedCertificate
}

// maxCertificates limits the cache of verified certificates.
const maxCertificates = 4096

func newVerifier(roots func() *x509.CertPool, now func() time.Time, read func(*x509.Certificate) (*User, error)) *verifier {
	return &verifier{roots: roots, now: now, userOf: read}
}

// currentPool returns the cache of the current CAs. Two requests that see a new pool concurrently
// may both start an empty cache; one of them stays.
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

// lookup returns a cached certificate, or verifies its signatures.
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
	if t.pool == nil { // for which x509 would use the system's CAs
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
