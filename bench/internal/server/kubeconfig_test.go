package server

import (
	"time"

	"github.com/troupe-api/troupe/bench/internal/benchtest"

	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadTargetEmbedded(t *testing.T) {
	_, path := benchtest.Start(t)
	target, err := LoadTarget(path)
	if err != nil {
		t.Fatal(err)
	}
	if target.Token != "sesame" || len(target.TLS.Certificates) != 1 || target.TLS.RootCAs == nil || target.TLS.InsecureSkipVerify {
		t.Errorf("%+v", target)
	}
}

// The same identity as files beside the kubeconfig, and a server with a path.
func TestLoadTargetFiles(t *testing.T) {
	_, path := benchtest.Start(t)
	dir := t.TempDir()
	embedded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(embedded)
	for field, file := range map[string]string{"certificate-authority": "ca.crt", "client-certificate": "client.crt", "client-key": "client.key"} {
		_, after, _ := strings.Cut(text, field+"-data: ")
		data := after[:strings.IndexAny(after, ",}")]
		pem, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), pem, 0o600); err != nil {
			t.Fatal(err)
		}
		text = strings.Replace(text, field+"-data: "+data, field+": "+file, 1)
	}
	text = strings.Replace(text, `token: "sesame"`, `tokenFile: token`, 1)
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := LoadTarget(filepath.Join(dir, "config"))
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout = time.Minute
	c := target.Conn()
	defer c.Close()
	if _, err := c.Expect(http.StatusOK, http.MethodGet, "/api/v1/namespaces/default", "", nil); err != nil {
		t.Error(err)
	}
}

// What package kubeconfig accepts, but a target cannot be.
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
