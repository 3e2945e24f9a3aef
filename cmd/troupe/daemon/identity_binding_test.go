package daemon

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
)

// TestLostKeys checks that a lost key is never regenerated if the data depends on it. The errors
// from the daemon and CheckCertificates name the key and the remedy.
func TestLostKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	stop := func(d *Daemon) {
		t.Helper()
		must.Succeed(t, d.Stop(context.Background()))
	}
	stop(mustStart(t, dir))
	pki := filepath.Join(dir, "pki")
	for _, file := range []string{"sa.key", "ca.crt", "ca.key", "front-proxy-ca.crt", "server.key", "admin.crt"} {
		path := filepath.Join(pki, file)
		text := must.Get(os.ReadFile(path))(t)
		must.Succeed(t, os.Remove(path))
		if _, err := start(t, dir, "platform"); err == nil || !strings.Contains(err.Error(), path+" is missing") || !strings.Contains(err.Error(), "\nput the original") {
			t.Errorf("without %s: %v", file, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made again", file)
		}
		var report bytes.Buffer
		if ok, err := persist.Verify(dir, &report, persist.Checks{Files: CheckCertificates}); ok || err != nil || !strings.Contains(report.String(), "FAULT "+path+" is missing") {
			t.Errorf("without %s: verified %t, %v\n%s", file, ok, err, &report)
		}
		must.Succeed(t, os.WriteFile(path, text, 0o600))
	}
	key := filepath.Join(pki, "sa.key")
	text := must.Get(os.ReadFile(key))(t)
	for i := range text {
		for bit := range 8 {
			changed := bytes.Clone(text)
			changed[i] ^= 1 << bit
			must.Succeed(t, os.WriteFile(key, changed, 0o600))
			if faults, err := CheckCertificates(dir); err != nil || len(faults) != 1 {
				t.Fatalf("bit %d of byte %d of sa.key is flipped: %v, %v", bit, i, faults, err)
			}
		}
	}
	if _, err := start(t, dir, "platform"); err == nil || !strings.Contains(err.Error(), "sa.key is not the file") {
		t.Errorf("with a flipped bit in sa.key: %v", err)
	}
	must.Succeed(t, os.WriteFile(key, text, 0o600))
	stop(mustStart(t, dir))

	// --cert-dir moves the files, and offline commands still find them.
	c := Default()
	c.DataDir, c.Naming, c.Serving.SecurePort, c.TLS.CertDir = dir, "platform", 0, filepath.Join(t.TempDir(), "elsewhere")
	serve := func() error {
		t.Helper()
		d := must.Get(New(c, t.Output()))(t)
		if err := d.Start(); err != nil {
			return err
		}
		stop(d)
		return nil
	}
	if err := serve(); err == nil || !strings.Contains(err.Error(), "ca.crt is missing") {
		t.Errorf("in a directory without keys: %v", err)
	}
	must.Succeed(t, os.CopyFS(c.TLS.CertDir, os.DirFS(pki)))
	must.Succeed(t, serve())
	must.Succeed(t, os.RemoveAll(pki))
	if faults, err := CheckCertificates(dir); err != nil || len(faults) > 0 {
		t.Errorf("elsewhere: %v, %v", faults, err)
	}

	// AcceptDataLoss applies only once, and backups contain no checksums.
	var backup bytes.Buffer
	must.Get(persist.BackupDir(dir, &backup))(t)
	c.TLS.CertDir, c.AcceptDataLoss = "", true
	if err := serve(); err != nil {
		t.Errorf("with an accepted loss: %v", err)
	}
	c.AcceptDataLoss = false
	if err := serve(); err != nil {
		t.Errorf("after an accepted loss: %v", err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	must.Get(persist.Restore(restored, persist.Source{Backup: &backup}))(t)
	stop(mustStart(t, restored))
}
