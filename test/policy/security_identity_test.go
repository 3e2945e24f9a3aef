package policy

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client/pki"
)

// TestBearerTokens checks that invalid credentials are rejected despite anonymous access.
func TestBearerTokens(t *testing.T) {
	v := start(t)
	get := func(path, headers string) securityAnswer {
		return v.raw(v.anonymous(), "GET "+path+" HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n")
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
	for _, path := range []string{"/api/v1/secrets", configMaps, "/metrics", "/backup"} {
		for _, headers := range []string{"", "Authorization: Bearer " + token + "\r\n", "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n"} {
			if got := get(path, headers); got.code != 403 {
				t.Errorf("%s with %q: %d, want 403", path, headers, got.code)
			}
		}
	}
}

// TestClientCertificates checks that a client certificate is accepted only if it is signed by the
// right CA, currently valid, and issued for client authentication.
func TestClientCertificates(t *testing.T) {
	v := start(t)
	ours, err := tls.X509KeyPair(v.read("ca.crt"), v.read("ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	masters := func(change func(*x509.Certificate)) *x509.Certificate {
		c := &x509.Certificate{
			Subject:     pkix.Name{CommonName: "mallory", Organization: []string{"system:masters"}},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
		}
		if change != nil {
			change(c)
		}
		return c
	}
	theirs := pki.Issue(t, tls.Certificate{}, masters(func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
		c.Subject = ours.Leaf.Subject
	}))
	plain := pki.Issue(t, ours, masters(nil))
	for name, test := range map[string]struct {
		pair tls.Certificate
		want int
	}{
		"good":             {plain, 200},
		"expired":          {pki.Issue(t, ours, masters(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) })), 401},
		"not yet valid":    {pki.Issue(t, ours, masters(func(c *x509.Certificate) { c.NotBefore = now.Add(time.Minute) })), 401},
		"for servers":      {pki.Issue(t, ours, masters(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })), 401},
		"no name":          {pki.Issue(t, ours, masters(func(c *x509.Certificate) { c.Subject.CommonName = "" })), 401},
		"of another CA":    {pki.Issue(t, theirs, masters(nil)), 401},
		"signed by itself": {pki.Issue(t, tls.Certificate{}, masters(nil)), 401},
		"by no CA":         {pki.Issue(t, plain, masters(nil)), 401},
		"ordinary":         {pki.Issue(t, ours, masters(func(c *x509.Certificate) { c.Subject.Organization = []string{"developers"} })), 403},
	} {
		config := v.anonymous()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &test.pair, nil }
		if got := v.raw(config, "GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n"); got.code != test.want {
			t.Errorf("%s: %d, want %d: %s", name, got.code, test.want, got.body)
		}
	}
}
