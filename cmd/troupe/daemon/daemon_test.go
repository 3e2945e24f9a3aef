package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

func start(t *testing.T, dir, naming string) (*Daemon, error) {
	t.Helper()
	c := Default()
	c.DataDir, c.Naming, c.Serving.SecurePort = dir, naming, 0
	d := must.Get(New(c, t.Output()))(t)
	return d, d.Start()
}

func mustStart(t *testing.T, dir string) *Daemon {
	t.Helper()
	d := must.Get(start(t, dir, "platform"))(t)
	t.Cleanup(func() { _ = d.Stop(context.Background()) })
	return d
}

// client trusts the daemon's CA and uses the named client certificate, unless name is "".
func client(t *testing.T, dir, name string) *http.Client {
	t.Helper()
	ca := must.Get(os.ReadFile(filepath.Join(dir, "pki", "ca.crt")))(t)
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(ca)
	if name != "" {
		pair := must.Get(tls.LoadX509KeyPair(filepath.Join(dir, "pki", name+".crt"), filepath.Join(dir, "pki", name+".key")))(t)
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func code(t *testing.T, c *http.Client, method, url, body string) int {
	t.Helper()
	r := must.Get(http.NewRequest(method, url, strings.NewReader(body)))(t)
	r.Header.Set("Content-Type", "application/json")
	answer := must.Get(c.Do(r))(t)
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func TestDaemonServesAndRemembers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := mustStart(t, dir)
	const objects = "/api/v1/namespaces/default/configmaps"
	for _, test := range []struct {
		cert, method, path, body string
		want                     int
	}{
		{"", "GET", "/readyz", "", 200},
		{"", "GET", objects, "", 403},
		{"server", "GET", objects, "", 401}, // no certificate for clients
		{"admin", "POST", objects, `{"metadata":{"name":"a"}}`, 201},
	} {
		if got := code(t, client(t, dir, test.cert), test.method, d.URL()+test.path, test.body); got != test.want {
			t.Errorf("%s %s as %q: %d, want %d", test.method, test.path, test.cert, got, test.want)
		}
	}
	if info, err := os.Stat(d.Kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: %v, %v", info, err)
	}
	if _, err := start(t, dir, "platform"); err == nil {
		t.Error("a second daemon opened the same directory")
	}
	must.Succeed(t, d.Stop(context.Background()))
	must.Succeed(t, d.Wait())
	if _, err := start(t, dir, "kubernetes"); err == nil || !strings.Contains(err.Error(), "naming profile platform") {
		t.Errorf("another profile: %v", err)
	}
	must.Succeed(t, os.Chmod(dir, 0o755))
	d = mustStart(t, dir)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a data directory that others could read: %v, %v", info.Mode(), err)
	}
	if got := code(t, client(t, dir, "admin"), "GET", d.URL()+objects+"/a", ""); got != 200 {
		t.Errorf("after a restart: %d", got)
	}
}
