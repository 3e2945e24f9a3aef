package certs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/certs"
)

func writePair(t *testing.T, names ...string) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	ensure(t, dir, time.Now(), names)
	return filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestParseNamedCertKey(t *testing.T) {
	for _, test := range []struct {
		text      string
		cert, key string
		names     string
		ok        bool
	}{
		{"a.crt,a.key", "a.crt", "a.key", "", true},
		{"a.crt, a.key:x.example,*.y.example", "a.crt", "a.key", "x.example *.y.example", true},
		{"a.crt,a.key:::1", "a.crt", "a.key", "::1", true},
		{"a.crt", "", "", "", false},
		{"a.crt,", "", "", "", false},
		{",a.key", "", "", "", false},
		{"a.crt,a.key,b.key", "", "", "", false},
		{"a.crt,a.key:", "", "", "", false},
		{"a.crt,a.key:x,", "", "", "", false},
		{"a.crt,a.key:x.*.example", "", "", "", false},
		{"a.crt,a.key:*", "", "", "", false},
	} {
		n, err := certs.ParseNamedCertKey(test.text)
		if (err == nil) != test.ok {
			t.Errorf("%q: %v", test.text, err)
		} else if test.ok && (n.CertFile != test.cert || n.KeyFile != test.key || strings.Join(n.Names, " ") != test.names) {
			t.Errorf("%q: %+v", test.text, n)
		}
	}
}

func TestPEMHoldsNoKey(t *testing.T) {
	cert, key := writePair(t, "a.example")
	want, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cert, append(secret, want...), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := certs.LoadFilePair(cert, cert)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.PEM(); string(got) != string(want) {
		t.Errorf("%s", got)
	}
}
