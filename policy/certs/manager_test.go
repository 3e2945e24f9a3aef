package certs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/certs"
)

func TestManagerRenews(t *testing.T) {
	now := start
	store := certs.Store{Dir: t.TempDir(), Now: func() time.Time { return now }}
	own, err := store.Open(testNames)
	if err != nil {
		t.Fatal(err)
	}
	first := own.Set()
	for _, step := range []struct {
		after           time.Duration
		ca, leaves, any bool
	}{
		{0, false, false, false},
		{300 * day, false, false, false},
		{40 * day, false, true, true},
		{10 * day, false, false, false},
		{3290 * day, true, true, true},
	} {
		before := own.Set()
		now = now.Add(step.after)
		if step.ca {
			if _, err := own.Renew(); err == nil || !strings.Contains(err.Error(), "ca.renew") {
				t.Errorf("no error reports that the CA expires soon: %v", err)
			}
			if err := os.WriteFile(filepath.Join(store.Dir, "ca.renew"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		changed, err := own.Renew()
		if err != nil {
			t.Fatal(err)
		}
		set := own.Set()
		ca, leaves := before.CA != set.CA && !before.CA.Cert.Equal(set.CA.Cert), !before.Server.Cert.Equal(set.Server.Cert) && !before.Admin.Cert.Equal(set.Admin.Cert)
		if changed != step.any || ca != step.ca || leaves != step.leaves {
			t.Errorf("at %v: changed %t, CA anew %t, leaves anew %t", now, changed, ca, leaves)
		}
		verify(t, now.String(), set, now, testNames)
	}
	trust, err := own.CABundle()
	if err != nil || !bytes.HasPrefix(trust, own.Set().CA.CertPEM) || !bytes.Contains(trust, first.CA.CertPEM) {
		t.Errorf("the CA before is not trusted any more: %v\n%s", err, trust)
	}
	now = now.Add(3640 * day)
	if err := os.WriteFile(filepath.Join(store.Dir, "ca.renew"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Renew(); err != nil {
		t.Fatal(err)
	}
	if trust, _ := own.CABundle(); bytes.Contains(trust, first.CA.CertPEM) || bytes.Count(trust, []byte("BEGIN")) != 2 {
		t.Errorf("an expired CA is still trusted:\n%s", trust)
	}
}

func TestManagerKeepsCertificatesOnWriteError(t *testing.T) {
	now, dir := start, filepath.Join(t.TempDir(), "pki")
	own, err := certs.Store{Dir: dir, Now: func() time.Time { return now }}.Open(testNames)
	if err != nil {
		t.Fatal(err)
	}
	first := own.Set()
	if err := os.WriteFile(filepath.Join(dir, "server.crt"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(340 * day)
	if changed, err := own.Renew(); changed || err == nil || own.Set().Server != first.Server {
		t.Errorf("changed %t, error %v", changed, err)
	}
}

func TestManagerInMemory(t *testing.T) {
	now := start
	own, err := certs.Store{Now: func() time.Time { return now }}.Open(testNames)
	if err != nil {
		t.Fatal(err)
	}
	first := own.Set()
	now = now.Add(350 * day)
	if renewed, err := own.Renew(); !renewed || err != nil {
		t.Errorf("renewed after 350 days: %t, %v", renewed, err)
	}
	if last := own.Set(); last.CA != first.CA || last.Server == first.Server || last.Admin == first.Admin {
		t.Errorf("the CA is another one, or what it signs is not")
	}
}

func TestIssueClient(t *testing.T) {
	own, err := certs.Store{}.Open(testNames)
	if err != nil {
		t.Fatal(err)
	}
	user, err := own.IssueClient("a: b", "c")
	if err != nil {
		t.Fatal(err)
	}
	if err := user.Cert.CheckSignatureFrom(own.Set().CA.Cert); err != nil || user.Cert.Subject.String() != "CN=a: b,O=c" {
		t.Errorf("%s: %v", user.Cert.Subject, err)
	}
	if text := string(certs.Kubeconfig("https://a", nil, user)); !strings.Contains(text, `user: "a: b"`) {
		t.Errorf("the kubeconfig: %s", text)
	}
}
