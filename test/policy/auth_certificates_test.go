package policy

import (
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

func TestCertificates(t *testing.T) {
	t.Parallel()
	people := pki.Authority(t, "people")
	r := serveUsers(t, func(c *daemon.Config, dir string) {
		c.Authentication.ClientCAFile = filepath.Join(dir, "people.crt")
		c.Authentication.AnonymousPaths = []string{"/livez", "/version"}
		client.WriteFile(t, c.Authentication.ClientCAFile, pki.PEM(people.Leaf))
	}, "rita=readers")
	cert := pki.Issue(t, people, &x509.Certificate{
		Subject: pkix.Name{
			CommonName: "jane", Organization: []string{"devs", "staff"},
			ExtraNames: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}, Value: "u-1"}},
		},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	sum := sha256.Sum256(cert.Leaf.Raw)
	self := `"userInfo":{"username":"jane","uid":"u-1","groups":["devs","staff","system:authenticated"],` +
		`"extra":{"authentication.platform.io/credential-id":["X509SHA256=` + hex.EncodeToString(sum[:]) + `"]}}`
	jane := r.withCertificate(cert)
	for range 2 {
		jane.expect("", "POST", selfReviewPath, "{}", 201, self)
	}
	// A valid certificate takes precedence over a valid token. A valid token works even with an
	// invalid certificate, but an invalid token is always rejected.
	jane.want("with a token that is good", jane.do("rita", "POST", selfReviewPath, "{}"), 201, `"username":"jane"`)
	jane.want("with a token that is bad", jane.do("nobody", "POST", selfReviewPath, "{}"), 401)
	stranger := r.withCertificate(pki.Client(t, pki.Authority(t, "people"), "jane"))
	stranger.expect("", "POST", selfReviewPath, "{}", 401, `"message":"Unauthorized"`)
	stranger.expect("", "GET", "/livez", "", 401)
	stranger.expect("rita", "POST", selfReviewPath, "{}", 201, `"username":"rita"`)

	two := pki.Issue(t, people, &x509.Certificate{
		Subject: pkix.Name{CommonName: "jane", ExtraNames: []pkix.AttributeTypeAndValue{
			{Type: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}, Value: "u-1"}, {Type: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}, Value: "u-2"},
		}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	r.withCertificate(two).expect("", "POST", selfReviewPath, "{}", 401)

	r.expect("", "GET", "/livez", "", 200)
	r.expect("", "GET", "/version", "", 200)
	r.expect("", "GET", "/readyz", "", 401, `"message":"Unauthorized"`)
	r.expect("", "GET", "/livez/ping", "", 401)
	r.expect("", "POST", selfReviewPath, "{}", 401)
	r.expect("nobody", "GET", "/livez", "", 401)
	r.expect("rita", "GET", "/readyz", "", 200)
}

// TestAnonymousWithAlwaysAllow checks that the mode AlwaysAllow disables anonymous access, so that
// requests without credentials are rejected.
func TestAnonymousWithAlwaysAllow(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, func(c *daemon.Config, _ string) { c.Authorization.Modes = []string{"AlwaysAllow"} }, "rita")
	r.expect("", "GET", "/api/v1/secrets", "", 401)
	r.expect("rita", "GET", "/api/v1/secrets", "", 200)
}
