package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that ends instead of becoming ready is told of at once, with what it said, and its etcd ends too.
func TestKubernetesEnds(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	identity, err := NewIdentity(dir)
	if err != nil {
		t.Fatal(err)
	}
	pid := filepath.Join(dir, "pid")
	_, err = KubernetesSpec{
		Etcd: script("etcd", "echo $$ > "+pid+"; exec "+os.Args[0]+` "$@"`), APIServer: script("apiserver", "until [ -s "+pid+" ]; do :; done; echo no such flag; exit 1"),
		Dir: filepath.Join(dir, "data"), Identity: identity, Audit: true, Timeout: time.Second,
	}.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "it has ended\nno such flag") {
		t.Errorf("error %v", err)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(text)))); err == nil {
		t.Error("etcd goes on")
	}
}
