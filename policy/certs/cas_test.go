package certs_test

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/certs"
)

func TestCAsReload(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	set, theirs := ensure(t, dir, time.Now(), testNames), ensure(t, other, time.Now(), testNames)
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, set.CA.CertPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	cas, err := certs.NewCAs(func() ([]byte, error) { return nil, nil }, certs.FileSource(path))
	if err != nil {
		t.Fatal(err)
	}
	believes := func(p *certs.Pair) bool {
		_, err := p.Cert.Verify(x509.VerifyOptions{Roots: cas.Pool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		return err == nil
	}
	garbage := []byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
	for _, step := range []struct {
		name          string
		text          []byte
		changed, fail bool
		ours, theirs  bool
	}{
		{"the same", set.CA.CertPEM, false, false, true, false},
		{"another", theirs.CA.CertPEM, true, false, false, true},
		{"empty", nil, false, true, false, true},
		{"garbage", garbage, false, true, false, true},
		{"garbage behind a good one", append(bytes.Clone(set.CA.CertPEM), garbage...), false, true, false, true},
		{"a key", set.CA.KeyPEM, false, true, false, true},
		{"both", append(bytes.Clone(set.CA.CertPEM), theirs.CA.CertPEM...), true, false, true, true},
	} {
		if err := os.WriteFile(path, step.text, 0o600); err != nil {
			t.Fatal(err)
		}
		pool := cas.Pool()
		changed, err := cas.Refresh()
		if changed != step.changed || (err != nil) != step.fail || (pool != cas.Pool()) != step.changed {
			t.Errorf("%s: changed %t, error %v", step.name, changed, err)
		}
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%s: the error names no file: %v", step.name, err)
		}
		if believes(set.Admin) != step.ours || believes(theirs.Admin) != step.theirs {
			t.Errorf("%s: believes ours %t, theirs %t", step.name, believes(set.Admin), believes(theirs.Admin))
		}
	}
	if _, err := certs.NewCAs(certs.FileSource(filepath.Join(dir, "none"))); err == nil {
		t.Error("a missing file is no error")
	}
}
