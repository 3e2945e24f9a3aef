package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoadTargetFaults checks that LoadTarget rejects some kubeconfigs that package kubeconfig
// accepts.
func TestLoadTargetFaults(t *testing.T) {
	const contexts = "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
	for name, test := range map[string]struct{ cluster, user, want string }{
		"plain HTTP": {`server: "http://x"`, "", "not an https URL"},
		"a password": {`server: "https://x"`, "username: a, password: b", "only certificates and tokens"},
		"no file":    {`server: "https://x"`, "tokenFile: none", "no such file"},
	} {
		path := filepath.Join(t.TempDir(), "config")
		text := contexts + "clusters: [{name: c, cluster: {" + test.cluster + "}}]\nusers: [{name: u, user: {" + test.user + "}}]\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadTarget(path); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSetServer(t *testing.T) {
	for server, want := range map[string]Target{
		"https://example.test":           {Address: "example.test:443"},
		"https://example.test:6443/a/b/": {Address: "example.test:6443", Prefix: "/a/b"},
		"https://[::1]:1":                {Address: "[::1]:1"},
		"https://[::1]":                  {Address: "[::1]:443"},
	} {
		var got Target
		if err := got.setServer(server); err != nil || got.Address != want.Address || got.Prefix != want.Prefix {
			t.Errorf("%s: %q %q %v", server, got.Address, got.Prefix, err)
		}
	}
}

func TestReadyTarget(t *testing.T) {
	kubeconfig := startProxy(t).kubeconfig
	file, err := LoadTarget(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"ready on https://127.0.0.1:7/ KUBECONFIG=" + kubeconfig:          "127.0.0.1:7",
		"ready, KUBECONFIG=\"" + kubeconfig + "\" at https://127.0.0.1:7": "127.0.0.1:7",
		"KUBECONFIG=" + kubeconfig:                                        file.Address,
	} {
		if target, err := readyTarget(line); err != nil || target.Address != want {
			t.Errorf("%s: %+v, %v", line, target, err)
		}
	}
	for _, line := range []string{"KUBECONFIG=", "KUBECONFIG=/nowhere/x"} {
		if _, err := readyTarget(line); err == nil {
			t.Errorf("no error for %q", line)
		}
	}
}

// TestOutput checks that a ready line is found even if it arrives in several writes, and that the
// end of the output is kept.
func TestOutput(t *testing.T) {
	o := output{ready: make(chan struct{})}
	for _, part := range []string{"starting\nready, KUBE", "CONFIG=/x\n", strings.Repeat("a", tailSize), "end"} {
		_, _ = o.Write([]byte(part))
	}
	<-o.ready
	if o.line != "ready, KUBECONFIG=/x\n" || len(o.tail) != tailSize || !bytes.HasSuffix(o.tail, []byte("aend")) {
		t.Errorf("line %q, %d bytes", o.line, len(o.tail))
	}
}

func TestMetricsAddUp(t *testing.T) {
	m := metrics{`a{x="1"}`: 1, `a{x="2"}`: 2, "ab": 4, "c": 8}
	if sum, found := m.sum("a"); sum != 3 || !found {
		t.Errorf("a is %v, %t", sum, found)
	}
	if sum, found := m.sum("c"); sum != 8 || !found {
		t.Errorf("c is %v, %t", sum, found)
	}
	if _, found := m.sum("d"); found {
		t.Error("there is a d")
	}
}
