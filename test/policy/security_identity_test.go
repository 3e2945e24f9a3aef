package policy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"
)

// TestBearerTokens: a credential that proves nothing is worse than none, although anonymous
// access is on.
func TestBearerTokens(t *testing.T) {
	v := start(t)
	get := func(path, headers string) securityAnswer {
		return v.raw(v.nobody(), "GET "+path+" HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n")
	}
	for headers, want := range map[string]int{
		"": 200,
		"Authorization: Bearer " + token + "\r\n":                                                  200,
		"Authorization: bearer " + token + "\r\n":                                                  200,
		"Authorization: Bearer " + token + "x\r\n":                                                 401,
		"Authorization: Bearer " + token[1:] + "\r\n":                                              401,
		"Authorization: Bearer\r\n":                                                                200,
		"Authorization: Bearer \r\n":                                                               200,
		"Authorization: Bearer \t \r\n":                                                            200,
		"Authorization:\r\n":                                                                       200,
		"Authorization: " + token + "\r\n":                                                         200,
		"Authorization: Basic amFuZTpqYW5l\r\n":                                                    200,
		"Authorization: Bearer " + token + "\r\nAuthorization: Bearer " + token + "\r\n":           401,
		"Authorization: Bearer " + token + "\r\naUTHORIZATION: Bearer x\r\n":                       401,
		"X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n":                               200,
		"Authorization: Bearer " + strings.Repeat("x", 20000) + "\r\n":                             401,
		"Impersonate-User: admin\r\nImpersonate-Group: system:masters\r\n":                         403,
		"iMPERSONATE-gROUP: system:masters\r\n":                                                    400,
		"Authorization: Bearer " + token + "\r\nImpersonate-Uid: 1\r\n":                            400,
		"X-Forwarded-For: 127.0.0.1\r\nX-Original-URL: /backup\r\nX-HTTP-Method-Override: PUT\r\n": 200,
	} {
		if got := get("/version", headers); got.code != want {
			t.Errorf("%.100q: %d, want %d", headers, got.code, want)
		}
	}
	for _, path := range []string{"/api/v1/secrets", securityConfigMaps, "/metrics", "/backup"} {
		for _, headers := range []string{"", "Authorization: Bearer " + token + "\r\n", "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n"} {
			if got := get(path, headers); got.code != 403 {
				t.Errorf("%s with %q: %d, want 403", path, headers, got.code)
			}
		}
	}
}

// TestClientCertificates: only one of the right CA, in its time and made for clients, counts.
func TestClientCertificates(t *testing.T) {
	v := start(t)
	ours, err := tls.X509KeyPair(v.read("ca.crt"), v.read("ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	masters := func(change func(*x509.Certificate)) *x509.Certificate {
		c := &x509.Certificate{
			SerialNumber: big.NewInt(now.UnixNano()), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
			Subject:     pkix.Name{CommonName: "mallory", Organization: []string{"system:masters"}},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
		}
		if change != nil {
			change(c)
		}
		return c
	}
	theirs := issue(t, masters(func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
		c.Subject = ours.Leaf.Subject
	}), nil)
	plain := issue(t, masters(nil), &ours)
	for name, test := range map[string]struct {
		pair tls.Certificate
		want int
	}{
		"good":             {plain, 200},
		"expired":          {issue(t, masters(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) }), &ours), 401},
		"not yet valid":    {issue(t, masters(func(c *x509.Certificate) { c.NotBefore = now.Add(time.Minute) }), &ours), 401},
		"for servers":      {issue(t, masters(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), &ours), 401},
		"no name":          {issue(t, masters(func(c *x509.Certificate) { c.Subject.CommonName = "" }), &ours), 401},
		"of another CA":    {issue(t, masters(nil), &theirs), 401},
		"signed by itself": {issue(t, masters(nil), nil), 401},
		"by no CA":         {issue(t, masters(nil), &plain), 401},
		"ordinary":         {issue(t, masters(func(c *x509.Certificate) { c.Subject.Organization = []string{"developers"} }), &ours), 403},
	} {
		config := v.nobody()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &test.pair, nil }
		if got := v.raw(config, "GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n"); got.code != test.want {
			t.Errorf("%s: %d, want %d: %s", name, got.code, test.want, got.body)
		}
	}
}

// issue signs a certificate; without an issuer, by itself.
func issue(t *testing.T, template *x509.Certificate, issuer *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer, chain := template, any(key), [][]byte(nil)
	if issuer != nil {
		parent, signer, chain = issuer.Leaf, issuer.PrivateKey, issuer.Certificate
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: append([][]byte{der}, chain...), PrivateKey: key, Leaf: leaf}
}
