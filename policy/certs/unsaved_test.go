package certs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestUnsavedCertificates(t *testing.T) {
	defer func() { createTemp = os.CreateTemp }()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	store := Store{Dir: t.TempDir(), Now: func() time.Time { return now }}
	old, err := store.Ensure([]string{"localhost"})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(340 * 24 * time.Hour)
	for _, failing := range []string{"", ".crt"} {
		createTemp = func(dir, pattern string) (*os.File, error) {
			if !strings.Contains(pattern, failing) {
				return os.CreateTemp(dir, pattern)
			}
			return nil, &os.PathError{Op: "open", Path: filepath.Join(dir, pattern), Err: syscall.ENOSPC}
		}
		own, err := store.Open([]string{"localhost"})
		if err != nil {
			t.Fatal(err)
		}
		set := own.Set()
		if set.Server.Cert.Equal(old.Server.Cert) || !store.usable(set.Server, set.CA) {
			t.Error("an old certificate is served")
		}
		if err := own.Warning(); err == nil || !strings.Contains(err.Error(), "server") || !strings.Contains(err.Error(), "admin") {
			t.Errorf("warning: %v", err)
		}
		if files, _ := os.ReadDir(store.Dir); len(files) != 12 {
			t.Errorf("%d files", len(files))
		}
		if kept, err := store.load("server"); err != nil || kept == nil || !kept.Cert.Equal(old.Server.Cert) {
			t.Fatalf("the old files are gone: %v", err)
		}
		if failing == "" {
			continue
		}
		createTemp = os.CreateTemp
		if changed, err := own.Renew(); changed || err != nil {
			t.Errorf("with room: %t %v", changed, err)
		}
		saved, err := store.load("server")
		if err != nil || !bytes.Equal(saved.CertPEM, set.Server.CertPEM) {
			t.Errorf("not saved when there is room: %v", err)
		}
	}
}
