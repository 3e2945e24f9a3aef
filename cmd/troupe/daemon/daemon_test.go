package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
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

// client returns a client that trusts the daemon's CA. Unless name is empty, it presents the client
// certificate of that name.
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

func TestDataDirectoryIsPrivate(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, os.Chmod(dir, 0o755))
	mustStart(t, dir)
	if info := must.Get(os.Stat(dir))(t); info.Mode().Perm() != 0o700 {
		t.Errorf("a data directory that others could read: %v", info.Mode())
	}
}

// TestUnrelatedDirectory checks that a directory with other files is rejected and not changed.
func TestUnrelatedDirectory(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, errors.Join(os.WriteFile(filepath.Join(dir, "file"), nil, 0o644), os.Chmod(dir, 0o755)))
	d, err := start(t, dir, "platform")
	if err == nil || !strings.Contains(err.Error(), `holds "file" but no format file: it is not a data directory`) {
		t.Errorf("start: %v", err)
	}
	must.Succeed(t, d.Stop(t.Context()))
	info, files := must.Get(os.Stat(dir))(t), must.Get(os.ReadDir(dir))(t)
	if info.Mode().Perm() != 0o755 || len(files) != 1 {
		t.Errorf("the directory has the mode %v and the files %v", info.Mode(), files)
	}
}
