package policy

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TestCleaner checks that finished requests are deleted one hour after the last decision, and
// requests with an expired certificate immediately. The tests of package
// actors/controllers/certificates check that pending requests are kept for a day.
func TestCleaner(t *testing.T) {
	openCertificatesInProfiles(t, func(c *daemon.Config) { c.CertificateSigning.Duration = daemon.Duration(time.Second) }, func(c *certificateCluster) {
		jane := order{signer: "example.com/s", usages: "client auth", CertificateRequest: x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}}
		const old, young = time.Hour + time.Minute, 30 * time.Minute
		for _, name := range []string{"approved", "denied", "failed", "approved-young", "denied-young", "pending"} {
			c.ask(name, jane)
		}
		c.decide("approved-young", "Approved", young)
		c.decide("denied-young", "Denied", young)
		c.decide("approved", "Approved", old)
		c.decide("denied", "Denied", old)
		c.decide("failed", "Failed", old)
		jane.signer = certificateClientSigner
		c.ask("expired", jane)
		c.decide("expired", "Approved", 0)
		for _, name := range []string{"approved", "denied", "failed", "expired"} {
			c.gone(name)
		}
		for _, name := range []string{"approved-young", "denied-young", "pending"} {
			c.status(name)
		}
	})
}
