package certs_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/certs"
)

var (
	start     = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	testNames = []string{"localhost", "127.0.0.1", "::1", "host.example"}
)

const day = 24 * time.Hour

func ensure(t *testing.T, dir string, at time.Time, names []string) certs.Set {
	t.Helper()
	set, err := certs.Store{Dir: dir, Now: func() time.Time { return at }}.Ensure(names)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestEnsureReusesAndRenews(t *testing.T) {
	tests := []struct {
		name              string
		later             time.Duration
		names             []string
		ca, server, admin bool // whether each pair is reissued
	}{
		{"at once", 0, testNames, false, false, false},
		{"fewer names", 0, testNames[:1], false, false, false},
		{"another name", 0, []string{"10.0.0.1"}, false, true, false},
		{"in 334 days", 334 * day, testNames, false, false, false},
		{"in 336 days", 336 * day, testNames, false, true, true},
		{"after the leaves expired", 400 * day, testNames, false, true, true},
		{"in almost 10 years", 3640 * day, testNames, false, true, true},
	}
	for _, test := range tests {
		dir := filepath.Join(t.TempDir(), "pki")
		old := ensure(t, dir, start, testNames)
		set := ensure(t, dir, start.Add(test.later), test.names)
		for label, p := range map[string]struct {
			old, new *certs.Pair
			renewed  bool
		}{"ca": {old.CA, set.CA, test.ca}, "server": {old.Server, set.Server, test.server}, "admin": {old.Admin, set.Admin, test.admin}} {
			if renewed := !bytes.Equal(p.old.CertPEM, p.new.CertPEM); renewed != p.renewed {
				t.Errorf("%s: %s made anew: %t, want %t", test.name, label, renewed, p.renewed)
			}
		}
		verify(t, test.name, set, start.Add(test.later), test.names)
	}
}

func verify(t *testing.T, name string, set certs.Set, at time.Time, hosts []string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(set.CA.Cert)
	for _, host := range hosts {
		if _, err := set.Server.Cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, DNSName: host}); err != nil {
			t.Errorf("%s: serving certificate: %v", name, err)
		}
	}
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := set.Admin.Cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, KeyUsages: usage}); err != nil {
		t.Errorf("%s: administrator's certificate: %v", name, err)
	}
	if s := set.Admin.Cert.Subject; s.CommonName != certs.AdminName || len(s.Organization) != 1 || s.Organization[0] != "system:masters" {
		t.Errorf("%s: administrator is %v", name, s)
	}
}

func TestAdminName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", "kubernetes-admin", "kubernetes-admin", ""} {
		set, err := certs.Store{Dir: dir, Admin: name}.Ensure(testNames)
		if err != nil {
			t.Fatal(err)
		}
		want := name
		if want == "" {
			want = certs.AdminName
		}
		if got := set.Admin.Cert.Subject.CommonName; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if text := string(certs.Kubeconfig("https://a", nil, set.Admin)); !strings.Contains(text, `user: "`+want+"\"\n") {
			t.Errorf("the kubeconfig is not of %s: %s", want, text)
		}
	}
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	ensure(t, dir, start, testNames)
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("%s has mode %v", dir, info.Mode())
	}
	count := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		if info, _ := d.Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || count != 12 {
		t.Errorf("%d files, %v", count, err)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	tests := []struct {
		name   string
		damage func(dir string) error
		fault  string
	}{
		{"key missing", func(dir string) error { return os.Remove(filepath.Join(dir, "ca.key")) }, "ca.key"},
		{"key of another", func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, "admin.key"))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "ca.key"), data, 0o600)
		}, "ca.crt"},
		{"garbage", func(dir string) error { return os.WriteFile(filepath.Join(dir, "server.crt"), []byte("x"), 0o600) }, "server.crt"},
	}
	for _, test := range tests {
		dir := t.TempDir()
		ensure(t, dir, start, testNames)
		if err := test.damage(dir); err != nil {
			t.Fatal(err)
		}
		_, err := certs.Store{Dir: dir, Now: func() time.Time { return start }}.Ensure(testNames)
		if err == nil || !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%s: got error %v, want one that names %s", test.name, err, test.fault)
		}
	}
}

func TestPairServesTLS(t *testing.T) {
	set := ensure(t, t.TempDir(), time.Now(), testNames)
	if _, err := tls.X509KeyPair(set.Server.CertPEM, set.Server.KeyPEM); err != nil {
		t.Fatal(err)
	}
	if got := set.Server.TLS(); got.Leaf != set.Server.Cert || got.PrivateKey == nil {
		t.Errorf("incomplete TLS certificate")
	}
}

func TestKubeconfigHoldsItsParts(t *testing.T) {
	set := ensure(t, t.TempDir(), start, testNames)
	text := string(certs.Kubeconfig("https://127.0.0.1:1234", set.CA.CertPEM, set.Admin))
	for _, part := range []string{"server: https://127.0.0.1:1234\n", "user: \"platform-admin\"\n", "- name: \"platform-admin\"\n", "client-key-data: LS0t", "certificate-authority-data: LS0t"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(text, "%!") {
		t.Errorf("bad format:\n%s", text)
	}
}

func TestFrontProxy(t *testing.T) {
	dir := t.TempDir()
	set := ensure(t, dir, start, testNames)
	client := set.ProxyClient.Cert
	if client.CheckSignatureFrom(set.ProxyCA.Cert) != nil || client.CheckSignatureFrom(set.CA.Cert) == nil {
		t.Error("the certificate is not signed by its own CA, and no other")
	}
	if client.Subject.CommonName != certs.ProxyClientName || len(client.Subject.Organization) != 0 {
		t.Errorf("its subject is %s", client.Subject)
	}
	again := ensure(t, dir, start, testNames)
	if !again.ProxyCA.Cert.Equal(set.ProxyCA.Cert) || !again.ProxyClient.Cert.Equal(client) {
		t.Error("the certificates are made again")
	}
}

func TestMergeBundles(t *testing.T) {
	one := ensure(t, t.TempDir(), start, testNames)
	merged := certs.MergeBundles(start, []byte("x\n"+string(one.CA.CertPEM)), one.CA.CertPEM, one.ProxyCA.CertPEM, one.CA.KeyPEM)
	if string(merged) != string(one.CA.CertPEM)+string(one.ProxyCA.CertPEM) {
		t.Errorf("merged:\n%s", merged)
	}
	if left := certs.MergeBundles(start.AddDate(11, 0, 0), merged); len(left) != 0 {
		t.Errorf("expired ones are left:\n%s", left)
	}
}
