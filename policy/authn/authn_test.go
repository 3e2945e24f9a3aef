package authn_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, signer *authority, name string) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(1000 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, parentKey := template, key
	if signer != nil {
		parent, parentKey = signer.cert, signer.key
	}
	return &authority{sign(t, template, parent, key, parentKey), key}
}

func sign(t *testing.T, template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (a *authority) client(t *testing.T, change func(*x509.Certificate)) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "jane", Organization: []string{"developers", "system:masters"}},
		NotBefore:    now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return sign(t, template, a.cert, key, a.key)
}

func uids(all ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		for _, uid := range all {
			c.Subject.ExtraNames = append(c.Subject.ExtraNames, pkix.AttributeTypeAndValue{
				Type: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}, Value: uid,
			})
		}
	}
}

func TestCertificates(t *testing.T) {
	ca, other := newAuthority(t, nil, "ours"), newAuthority(t, nil, "other")
	middle := newAuthority(t, ca, "middle")
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	tests := []struct {
		name  string
		certs []*x509.Certificate
		fault string // "" for the user jane, "none" for no opinion
		uid   string
	}{
		{"good", []*x509.Certificate{ca.client(t, nil)}, "", ""},
		{"with a uid", []*x509.Certificate{ca.client(t, uids("u-1"))}, "", "u-1"},
		{"with two uids", []*x509.Certificate{ca.client(t, uids("u-1", "u-2"))}, "one uid", ""},
		{"with an empty uid", []*x509.Certificate{ca.client(t, uids(""))}, "one uid", ""},
		{"through an intermediate", []*x509.Certificate{middle.client(t, nil), middle.cert}, "", ""},
		{"intermediate missing", []*x509.Certificate{middle.client(t, nil)}, "unknown authority", ""},
		{"no certificate", nil, "none", ""},
		{"other CA", []*x509.Certificate{other.client(t, nil)}, "unknown authority", ""},
		{"other CA, presented along", []*x509.Certificate{other.client(t, nil), other.cert}, "unknown authority", ""},
		{"expired", []*x509.Certificate{ca.client(t, func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) })}, "expired", ""},
		{"not yet valid", []*x509.Certificate{ca.client(t, func(c *x509.Certificate) { c.NotBefore = now.Add(time.Minute) })}, "not yet valid", ""},
		{"for servers", []*x509.Certificate{ca.client(t, func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		})}, "incompatible key usage", ""},
		{"no user", []*x509.Certificate{ca.client(t, func(c *x509.Certificate) { c.Subject.CommonName = "" })}, "has no user name", ""},
	}
	a := authn.Certificates(func() *x509.CertPool { return roots }, meta.Platform, func() time.Time { return now }, true)
	memory := &authn.ConnCache{}
	for _, test := range tests {
		for range 2 { // the second time from the cache
			user, err := a.Authenticate(authn.Request{Certs: test.certs, ConnCache: memory})
			switch {
			case test.fault == "none":
				if user != nil || err != nil {
					t.Errorf("%s: got %v, %v, want no opinion", test.name, user, err)
				}
			case test.fault == "":
				sum := sha256.Sum256(test.certs[0].Raw)
				want := &authn.User{
					Name: "jane", UID: test.uid, Groups: []string{"developers", "system:masters"},
					Extra: map[string][]string{"authentication.platform.io/credential-id": {"X509SHA256=" + hex.EncodeToString(sum[:])}},
				}
				if err != nil || !reflect.DeepEqual(withoutExpiry(user), want) {
					t.Errorf("%s: got %v, %v", test.name, user, err)
				}
			case user != nil || err == nil || !strings.Contains(err.Error(), test.fault):
				t.Errorf("%s: got %v, %v, want an error with %q", test.name, user, err, test.fault)
			}
		}
	}
}

func TestCertificateUIDs(t *testing.T) {
	ca := newAuthority(t, nil, "ours")
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	for on, want := range map[bool]string{true: "u-1", false: ""} {
		a := authn.Certificates(func() *x509.CertPool { return roots }, meta.Platform, func() time.Time { return now }, on)
		user, err := a.Authenticate(authn.Request{Certs: []*x509.Certificate{ca.client(t, uids("u-1"))}, ConnCache: &authn.ConnCache{}})
		if err != nil || user.UID != want {
			t.Errorf("%t: %v, %v", on, user, err)
		}
	}
}

func TestCachedCertificateExpires(t *testing.T) {
	ca := newAuthority(t, nil, "ours")
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	clock := now
	a := authn.Certificates(func() *x509.CertPool { return roots }, meta.Platform, func() time.Time { return clock }, true)
	r := authn.Request{Certs: []*x509.Certificate{ca.client(t, nil)}, ConnCache: &authn.ConnCache{}}
	if _, err := a.Authenticate(r); err != nil {
		t.Fatal(err)
	}
	clock = now.Add(2 * time.Hour)
	if user, err := a.Authenticate(r); err == nil {
		t.Fatalf("expired certificate is still %v", user)
	}
}

func TestCertificatesWithNewPool(t *testing.T) {
	old, next := newAuthority(t, nil, "old"), newAuthority(t, nil, "next")
	pool := x509.NewCertPool()
	pool.AddCert(old.cert)
	a := authn.Certificates(func() *x509.CertPool { return pool }, meta.Platform, func() time.Time { return now }, true)
	memory := &authn.ConnCache{} // shared by all requests, which must not get each other's entries
	of := func(ca *authority) authn.Request {
		return authn.Request{Certs: []*x509.Certificate{ca.client(t, nil)}, ConnCache: memory}
	}
	kept := of(old)
	if user, err := a.Authenticate(kept); user == nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(next.cert)
	if user, _ := a.Authenticate(kept); user != nil {
		t.Error("a certificate is remembered after its CA has gone")
	}
	if user, err := a.Authenticate(of(next)); user == nil {
		t.Error(err)
	}
	pool = nil
	if user, _ := a.Authenticate(of(next)); user != nil {
		t.Error("without any CA a certificate is good")
	}
}

func TestReadTokenFile(t *testing.T) {
	var warnings []string
	tokens, err := authn.ReadTokenFile(strings.NewReader("# people\n\nt1,ann,0\n,nobody,3\nt2,joe,2,\"a, b\"\nt1,jane,1\n"), func(text string) { warnings = append(warnings, text) })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(warnings, "\n"); got != "line 4: the token is empty; the line is ignored\nline 6: duplicate token; the last line applies" {
		t.Errorf("warnings %s", got)
	}
	for token, want := range map[string]*authn.User{
		"t1": {Name: "jane", UID: "1"}, "t2": {Name: "joe", UID: "2", Groups: []string{"a", "b"}}, "t3": nil, "": nil, " t1": nil,
	} {
		user, err := tokens.Authenticate(authn.Request{Token: token, HasToken: true})
		if err != nil || !reflect.DeepEqual(withoutExpiry(user), want) {
			t.Errorf("token %q: got %v, %v, want %v", token, user, err, want)
		}
	}
	for text, want := range map[string]string{
		"t1,jane":       "line 1: 2 columns",
		"t1,jane,1,a,b": "line 1: more than 4",
		"t1,,1":         "must not be empty",
		"t1,jane,1,\"a": "token file:",
	} {
		_, err := authn.ReadTokenFile(strings.NewReader(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "t1") {
			t.Errorf("%q: got error %v, want one with %q and without the token", text, err, want)
		}
	}
}

type stubAuthenticator struct {
	user *authn.User
	err  error
}

func (f stubAuthenticator) Authenticate(authn.Request) (*authn.User, error) { return f.user, f.err }

func TestChain(t *testing.T) {
	jane, joe := &authn.User{Name: "jane", Groups: []string{"g"}}, &authn.User{Name: "joe"}
	bad := errors.New("bad credential")
	tests := []struct {
		name    string
		methods []authn.Authenticator
		request authn.Request
		user    string
		groups  string
		err     error
	}{
		{"first wins", []authn.Authenticator{stubAuthenticator{jane, nil}, stubAuthenticator{joe, nil}}, authn.Request{}, "jane", "g system:authenticated", nil},
		{"no opinion goes on", []authn.Authenticator{stubAuthenticator{}, stubAuthenticator{joe, nil}}, authn.Request{}, "joe", "system:authenticated", nil},
		{"a later method may know", []authn.Authenticator{stubAuthenticator{nil, bad}, stubAuthenticator{joe, nil}}, authn.Request{}, "joe", "system:authenticated", nil},
		{"a bad credential is not anonymous", []authn.Authenticator{stubAuthenticator{nil, bad}, stubAuthenticator{}}, authn.Request{}, "", "", bad},
		{"nothing is anonymous", []authn.Authenticator{stubAuthenticator{}}, authn.Request{}, "system:anonymous", "system:unauthenticated", nil},
		{"unknown token", []authn.Authenticator{stubAuthenticator{}}, authn.Request{Token: "x", HasToken: true}, "", "", authn.ErrUnknownToken},
		{"on an open path", []authn.Authenticator{stubAuthenticator{}}, authn.Request{Path: "/livez"}, "system:anonymous", "system:unauthenticated", nil},
		{"empty token", nil, authn.Request{HasToken: true}, "", "", authn.ErrUnknownToken},
	}
	memory := &authn.ConnCache{}
	for _, test := range append(tests, tests...) {
		test.request.ConnCache = memory
		a := authn.Authenticated(authn.Anonymous(authn.Union(test.methods...)))
		user, err := a.Authenticate(test.request)
		if !errors.Is(err, test.err) || (test.err == nil) != (err == nil) {
			t.Errorf("%s: error %v, want %v", test.name, err, test.err)
			continue
		}
		if test.err == nil && (user.Name != test.user || strings.Join(user.Groups, " ") != test.groups) {
			t.Errorf("%s: got %s %v", test.name, user.Name, user.Groups)
		}
	}
	if len(jane.Groups) != 1 {
		t.Errorf("the shared user was changed: %v", jane.Groups)
	}
}

func TestAnonymousPaths(t *testing.T) {
	a := authn.Anonymous(stubAuthenticator{}, "/livez", "/readyz")
	for path, open := range map[string]bool{"/livez": true, "/readyz": true, "/livez/": false, "/livez/etcd": false, "/": false, "": false, "/LIVEZ": false} {
		user, err := a.Authenticate(authn.Request{Path: path})
		if err != nil || (user != nil) != open {
			t.Errorf("%q: got %v, %v", path, user, err)
		}
	}
	if user, err := a.Authenticate(authn.Request{Path: "/livez", HasToken: true}); user != nil || err == nil {
		t.Errorf("an unknown token on an open path: got %v", user)
	}
}
