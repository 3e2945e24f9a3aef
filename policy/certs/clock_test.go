package certs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/certs"
)

func TestClockNeverReplacesTheCA(t *testing.T) {
	for name, wrong := range map[string]time.Time{
		"no battery":         time.Unix(0, 0),
		"an hour before":     start.Add(-time.Hour),
		"a year before":      start.Add(-365 * day),
		"six years ahead":    start.Add(6 * 365 * day),
		"twelve years ahead": start.Add(12 * 365 * day),
	} {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), start
			store := certs.Store{Dir: dir, Now: func() time.Time { return now }}
			old := ensure(t, dir, start, testNames)
			now = wrong
			own, err := store.Open(testNames)
			if err != nil {
				t.Fatal(err)
			}
			outside := wrong.Before(old.CA.Cert.NotBefore) || wrong.After(old.CA.Cert.NotAfter)
			if (own.Warning() != nil) != outside {
				t.Errorf("warning: %v", own.Warning())
			}
			if _, err := own.Renew(); (err != nil) != outside {
				t.Errorf("looking again: %v", err)
			}
			if outside {
				verify(t, "for clients whose clock is right", own.Set(), start, testNames)
			}
			now = start.Add(time.Hour)
			own, err = store.Open(testNames)
			if err != nil || own.Warning() != nil {
				t.Fatal(err, own.Warning())
			}
			if set := own.Set(); !bytes.Equal(set.CA.CertPEM, old.CA.CertPEM) || !bytes.Equal(set.CA.KeyPEM, old.CA.KeyPEM) {
				t.Error("the CA is another one")
			}
			verify(t, "when the clock is right again", own.Set(), now, testNames)
		})
	}
}

func TestMissingCertificateUnderWrongClock(t *testing.T) {
	dir := t.TempDir()
	ensure(t, dir, start, testNames)
	for _, file := range []string{"server.crt", "server.key"} {
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	verify(t, "made in 1970", ensure(t, dir, time.Unix(0, 0), testNames), start.Add(time.Hour), testNames)
}
