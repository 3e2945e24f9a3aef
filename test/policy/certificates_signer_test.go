package policy

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestSigners checks that each signer signs only requests that its rules allow. Otherwise, the
// Failed condition contains the reason. Package actors/controllers/certificates tests more cases.
func TestSigners(t *testing.T) {
	uri, _ := url.Parse("spiffe://example.com/a")
	person := pkix.Name{CommonName: "jane", Organization: []string{"dev", "ops"}}
	names := x509.CertificateRequest{
		Subject: person, DNSNames: []string{"jane.example.com"}, IPAddresses: []net.IP{{10, 0, 0, 1}}, EmailAddresses: []string{"jane@example.com"}, URIs: []*url.URL{uri},
	}
	serving := x509.CertificateRequest{Subject: node("n1"), DNSNames: []string{"n1"}, IPAddresses: []net.IP{{10, 0, 0, 1}}}
	withEmail := serving
	withEmail.EmailAddresses = []string{"n1@example.com"}
	cases := []struct {
		name string
		order
		failure string // "": it is signed
	}{
		{"client", order{signer: certificateClientSigner, usages: "client auth", CertificateRequest: x509.CertificateRequest{Subject: person}}, ""},
		{"client-names", order{signer: certificateClientSigner, usages: "client auth,digital signature,key encipherment", CertificateRequest: names}, ""},
		{"client-server", order{signer: certificateClientSigner, usages: "client auth,server auth", CertificateRequest: names}, "invalid usage for client certificate: server auth"},
		{"client-none", order{signer: certificateClientSigner, usages: "digital signature", CertificateRequest: names}, "missing required usage for client certificate: client auth"},
		{"node", order{signer: nodeClientSigner, usages: "client auth,digital signature", CertificateRequest: x509.CertificateRequest{Subject: node("n1")}}, ""},
		{"node-names", order{signer: nodeClientSigner, usages: "client auth,digital signature", CertificateRequest: serving}, "DNS subjectAltNames are not allowed"},
		{"node-person", order{signer: nodeClientSigner, usages: "client auth,digital signature", CertificateRequest: x509.CertificateRequest{Subject: person}}, "subject organization is not system:nodes"},
		{"node-usages", order{signer: nodeClientSigner, usages: "client auth", CertificateRequest: x509.CertificateRequest{Subject: node("n1")}}, "usages did not match [client auth digital signature key encipherment]"},
		{"serving", order{signer: nodeServerSigner, usages: "server auth,digital signature,key encipherment", CertificateRequest: serving}, ""},
		{"serving-bare", order{signer: nodeServerSigner, usages: "server auth,digital signature", CertificateRequest: x509.CertificateRequest{Subject: node("n1")}}, "DNS or IP subjectAltName is required"},
		{"serving-email", order{signer: nodeServerSigner, usages: "server auth,digital signature", CertificateRequest: withEmail}, "Email subjectAltNames are not allowed"},
		{"serving-client", order{signer: nodeServerSigner, usages: "client auth,digital signature", CertificateRequest: serving}, "usages did not match [digital signature key encipherment server auth]"},
	}
	openCertificatesInProfiles(t, nil, func(c *certificateCluster) {
		serials := map[string]bool{}
		for _, test := range cases {
			c.ask(test.name, test.order)
			c.decide(test.name, "Approved", 0)
			if test.failure != "" {
				if got := c.condition(test.name, "Failed"); got != "SignerValidationFailure: "+test.failure {
					c.T.Errorf("%s: %s", test.name, got)
				}
				continue
			}
			cert := c.certificate(test.name)
			checkNames(c.T, test.name, cert, test.CertificateRequest)
			serials[cert.SerialNumber.String()] = true
			if err := cert.CheckSignatureFrom(c.authority()); err != nil || cert.IsCA || !cert.BasicConstraintsValid || cert.KeyUsage&x509.KeyUsageCertSign != 0 {
				c.T.Errorf("%s: %v, a CA: %v", test.name, err, cert.IsCA)
			}
		}
		if len(serials) != 4 {
			c.T.Errorf("serial numbers: %v", serials)
		}
		// Requests are not signed if their signer is unknown, or while they are pending or denied.
		c.ask("other", order{signer: "example.com/s", usages: "client auth", CertificateRequest: names})
		c.ask("pending", cases[0].order)
		c.ask("denied", cases[0].order)
		c.decide("other", "Approved", 0)
		c.decide("denied", "Denied", 0)
		c.ask("last", cases[0].order)
		c.decide("last", "Approved", 0)
		c.certificate("last")
		for _, name := range []string{"other", "pending", "denied"} {
			if s := c.status(name); s["certificate"] != nil {
				c.T.Errorf("%s is signed: %v", name, s)
			}
		}
	})
}

func (c *certificateCluster) authority() *x509.Certificate {
	c.T.Helper()
	text := c.must(200, "GET", "/api/v1/namespaces/default/configmaps/platform-root-ca.crt", "", "")["data"].(map[string]any)["ca.crt"].(string)
	return parsePEM(c.T, text)
}

func checkNames(t *testing.T, name string, cert *x509.Certificate, r x509.CertificateRequest) {
	t.Helper()
	if cert.Subject.String() != r.Subject.String() || !slices.Equal(cert.DNSNames, r.DNSNames) || !slices.Equal(cert.EmailAddresses, r.EmailAddresses) ||
		len(cert.IPAddresses) != len(r.IPAddresses) || len(cert.URIs) != len(r.URIs) {
		t.Errorf("%s: %v %v %v %v %v", name, cert.Subject, cert.DNSNames, cert.IPAddresses, cert.EmailAddresses, cert.URIs)
	}
}

// TestLifetime checks that a certificate has the requested lifetime, up to the configured limit and
// the lifetime of the CA. Its validity starts a few minutes in the past.
func TestLifetime(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, t.TempDir(), "signing", 30*time.Hour, true)
	c := openCertificates(t, "platform", func(d *daemon.Config) {
		s := &d.CertificateSigning
		s.CertFile, s.KeyFile, s.Duration = ca.certFile, ca.keyFile, daemon.Duration(48*time.Hour)
	})
	person := x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}
	const skew, asTheCA = 5 * time.Minute, 0
	for _, test := range []struct {
		seconds int
		want    time.Duration
	}{{600, 10 * time.Minute}, {3600, time.Hour}, {8 * 3600, 8*time.Hour - skew}, {24 * 3600, 24*time.Hour - skew}, {0, asTheCA}, {999999, asTheCA}} {
		name := fmt.Sprint("s", test.seconds)
		before := time.Now()
		c.ask(name, order{signer: certificateClientSigner, usages: "client auth", CertificateRequest: person, seconds: test.seconds})
		c.decide(name, "Approved", 0)
		cert := c.certificate(name)
		after := time.Now()
		between := func(at time.Time, shift time.Duration) bool { // relative to the time of the request; certificates have whole seconds
			return !at.Before(before.Add(shift).Truncate(time.Second)) && !at.After(after.Add(shift))
		}
		if ends := cert.NotAfter; test.want == asTheCA && !ends.Equal(ca.cert.NotAfter) || test.want != asTheCA && !between(ends, test.want) {
			t.Errorf("%d seconds: ends after %v, want %v", test.seconds, ends.Sub(before), test.want)
		}
		if !between(cert.NotBefore, -skew) {
			t.Errorf("%d seconds: begins %v before", test.seconds, before.Sub(cert.NotBefore))
		}
		if err := cert.CheckSignatureFrom(ca.cert); err != nil {
			t.Error(err)
		}
	}
}

// TestSignerFiles checks that configuring files for one signer disables the others. A new CA takes
// effect immediately, but if its file is broken, the previous CA stays in use.
func TestSignerFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := newAuthority(t, dir, "first", 48*time.Hour, true)
	c := openCertificates(t, "platform", func(d *daemon.Config) {
		d.CertificateSigning.NodeClient = daemon.CAKeyFiles{CertFile: first.certFile, KeyFile: first.keyFile}
		d.TLS.ReloadPeriod = daemon.Duration(5 * time.Millisecond)
	})
	asked := 0
	sign := func() *x509.Certificate {
		asked++
		name := fmt.Sprint("node", asked)
		c.ask(name, order{signer: nodeClientSigner, usages: "client auth,digital signature", CertificateRequest: x509.CertificateRequest{Subject: node("n1")}})
		c.decide(name, "Approved", 0)
		return c.certificate(name)
	}
	c.ask("client", order{signer: certificateClientSigner, usages: "client auth", CertificateRequest: x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}})
	c.decide("client", "Approved", 0)
	if issuer := sign().Issuer.CommonName; issuer != "first" {
		t.Errorf("signed by %s", issuer)
	}
	newAuthority(t, dir, "second", 48*time.Hour, true)
	client.Eventually(t, func() error {
		if issuer := sign().Issuer.CommonName; issuer != "second" {
			return fmt.Errorf("signed by %s", issuer)
		}
		return nil
	})
	newAuthority(t, dir, "no CA", 48*time.Hour, false)
	c.waitMetric(`troupe_certificate_reloads_total{what="cluster-signing-kubelet-client",status="failure"}`)
	if issuer := sign().Issuer.CommonName; issuer != "second" {
		t.Errorf("signed by %s, which is %v", issuer, "broken")
	}
	if s := c.status("client"); s["certificate"] != nil {
		t.Errorf("a signer without files signs: %v", s)
	}
}

// TestBadSignerFiles checks that a CA that cannot sign prevents startup.
func TestBadSignerFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leaf := newAuthority(t, dir, "no CA", time.Hour, false)
	for _, s := range []daemon.CertificateSigning{
		{CertFile: leaf.certFile, KeyFile: leaf.keyFile, Duration: daemon.Duration(time.Hour)},
		{CertFile: filepath.Join(dir, "none"), KeyFile: leaf.keyFile, Duration: daemon.Duration(time.Hour)},
	} {
		config := daemon.Default()
		config.DataDir, config.Serving.SecurePort, config.CertificateSigning = t.TempDir(), 0, s
		d, err := daemon.New(config, t.Output())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Start(); err == nil {
			d.Stop(t.Context())
			t.Errorf("a daemon starts with %+v", s)
		}
	}
}
