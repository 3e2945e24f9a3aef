package certs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/certs"
)

// requestFor returns a certificate request with an extension that requests a CA certificate.
func requestFor(t *testing.T, name string) *x509.CertificateRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	constraints, err := asn1.Marshal(struct{ IsCA bool }{true})
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: name}, ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Value: constraints}},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	r, err := certs.ParseRequest(base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAuthority(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	own, err := certs.Store{Dir: t.TempDir(), Now: func() time.Time { return now }}.Open([]string{"localhost"})
	if err != nil {
		t.Fatal(err)
	}
	ca := own.Set().CA.Cert
	template := certs.Template{Request: requestFor(t, "jane"), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	const skew = 5 * time.Minute
	for _, c := range []struct{ at, life, want time.Duration }{
		{0, 10 * time.Minute, 10 * time.Minute},
		{0, 8*time.Hour - time.Second, 8*time.Hour - time.Second},
		{0, 8 * time.Hour, 8*time.Hour - skew},
		{0, 99 * 365 * 24 * time.Hour, ca.NotAfter.Sub(now)},
		{ca.NotAfter.Sub(now) - time.Minute, time.Hour, time.Minute},
	} {
		template.Lifetime = c.life
		text, err := own.Authority().Sign(template, now.Add(c.at))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if got := cert.NotAfter.Sub(now.Add(c.at)); got != c.want || !cert.NotBefore.Equal(now.Add(c.at-skew)) {
			t.Errorf("for %v: from %v to %v, want %v", c.life, cert.NotBefore, cert.NotAfter, c.want)
		}
		if err := cert.CheckSignatureFrom(ca); err != nil || cert.IsCA || !cert.BasicConstraintsValid || cert.Subject.CommonName != "jane" || cert.SerialNumber.Sign() <= 0 {
			t.Errorf("%v %v a CA: %v, for %v", err, cert.SerialNumber, cert.IsCA, cert.Subject)
		}
	}
	if _, err := own.Authority().Sign(template, ca.NotAfter); err == nil || !strings.Contains(err.Error(), "expired in the past") {
		t.Errorf("by a CA that has expired: %v", err)
	}
	forged := *template.Request
	forged.PublicKey = requestFor(t, "joe").PublicKey
	template.Request = &forged
	if _, err := own.Authority().Sign(template, now); err == nil {
		t.Error("for a key that is not the requester's")
	}
}

func TestLoadAuthority(t *testing.T) {
	now := time.Now()
	dir := t.TempDir()
	if _, err := (certs.Store{Dir: dir}).Ensure([]string{"localhost"}); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	if _, _, err := certs.LoadAuthority(file("server.crt"), file("server.key")); err == nil || !strings.Contains(err.Error(), "not that of a CA") {
		t.Errorf("a serving certificate: %v", err)
	}
	if _, _, err := certs.LoadAuthority(file("ca.crt"), file("server.key")); err == nil {
		t.Error("the key of another certificate")
	}
	a, refresh, err := certs.LoadAuthority(file("ca.crt"), file("ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"crt", "key"} {
		text, err := os.ReadFile(file("server." + name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file("ca."+name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if changed, err := refresh(); changed || err == nil {
		t.Errorf("replaced by no CA: %v %v", changed, err)
	}
	if _, err := a.Sign(certs.Template{Request: requestFor(t, "jane"), Lifetime: time.Hour}, now); err != nil {
		t.Error(err)
	}
}
