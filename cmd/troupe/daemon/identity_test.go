package daemon

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/policy/certs"
)

// TestOwnCertificatesRenewWhileTheDaemonRuns checks that certificates are renewed before they
// expire. Handshakes and the kubeconfig use the new certificates, and both CAs are trusted.
func TestOwnCertificatesRenewWhileTheDaemonRuns(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	dir := t.TempDir()
	own := must.Get(certs.Store{Dir: filepath.Join(dir, "pki"), Now: func() time.Time { return now }}.Open([]string{"localhost"}))(t)
	id := &identity{
		base: newBase(&settings{config: Default()}, nil), ownCerts: own, serving: certs.NewSNICertificates(own.Certificate),
		reloader: certs.NewReloader(slog.New(slog.DiscardHandler)),
	}
	id.reloader.Add("own", own.Renew)
	cas := must.Get(id.clientCAs(""))(t)
	admin := &adminKubeconfig{path: filepath.Join(dir, "admin.kubeconfig"), url: "https://localhost:1", id: id}
	id.reloader.Add("kubeconfig", admin.Refresh)
	config := must.Get(id.tlsConfig())(t)
	var last certs.Set
	first := own.Set().CA
	for _, step := range []struct {
		after time.Duration
		anew  bool
	}{{0, true}, {time.Hour, false}, {340 * 24 * time.Hour, true}, {3300 * 24 * time.Hour, true}} {
		now = now.Add(step.after)
		if step.after > 3000*24*time.Hour {
			must.Succeed(t, os.WriteFile(filepath.Join(dir, "pki", "ca.renew"), nil, 0o600))
		}
		id.reloader.Reload()
		set := id.certificates()
		if anew := set.Server != last.Server && set.Admin != last.Admin; anew != step.anew {
			t.Errorf("at %v: anew %t", now, anew)
		}
		last = set
		if step.after > 3000*24*time.Hour && set.CA.Cert.Equal(first.Cert) {
			t.Errorf("at %v the CA is not renewed as it was asked to be", now)
		}
		served, err := config.GetCertificate(&tls.ClientHelloInfo{ServerName: "localhost"})
		if err != nil || served.Leaf != set.Server.Cert {
			t.Errorf("at %v another certificate is served: %v", now, err)
		}
		written := must.Get(os.ReadFile(admin.path))(t)
		for name, part := range map[string][]byte{"CA": set.CA.CertPEM, "certificate": set.Admin.CertPEM, "key": set.Admin.KeyPEM} {
			if !bytes.Contains(written, []byte(base64.StdEncoding.EncodeToString(part))) {
				t.Errorf("at %v the kubeconfig holds another %s", now, name)
			}
		}
		for name, ca := range map[string]*certs.Pair{"first": first, "present": set.CA} {
			if _, err := ca.Cert.Verify(x509.VerifyOptions{Roots: cas.Pool(), CurrentTime: now}); err != nil {
				t.Errorf("at %v the %s CA is not believed: %v", now, name, err)
			}
		}
	}
}
