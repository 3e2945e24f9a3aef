package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadTargetEmbedded(t *testing.T) {
	_, path := startFake(t)
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
	_, path := startFake(t)
	dir := t.TempDir()
	embedded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(embedded)
	for field, file := range map[string]string{"certificate-authority": "ca.crt", "client-certificate": "client.crt", "client-key": "client.key"} {
		_, after, _ := strings.Cut(text, field+"-data: ")
		data := after[:strings.IndexAny(after, ",}")]
		pem, err := fileOrData("", "", data)
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
	target.Timeout = session(t, path).Request
	c := target.Conn()
	defer c.Close()
	if _, err := c.Expect(http.StatusOK, http.MethodGet, "/api/v1/namespaces/default", "", nil); err != nil {
		t.Error(err)
	}
}

func TestLoadTargetFaults(t *testing.T) {
	const contexts = "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
	for name, test := range map[string]struct{ text, want string }{
		"no context":      {"current-context: a", `no context "a"`},
		"no cluster":      {contexts, `no cluster "c"`},
		"plain HTTP":      {contexts + `clusters: [{name: c, cluster: {server: "http://x"}}]`, "not an https URL"},
		"authority":       {contexts + `clusters: [{name: c, cluster: {server: "https://x", certificate-authority-data: eA==}}]`, "no certificate"},
		"missing file":    {contexts + `clusters: [{name: c, cluster: {server: "https://x", certificate-authority: none}}]`, "no such file"},
		"half a key pair": {contexts + "clusters: [{name: c, cluster: {server: 'https://x'}}]\nusers: [{name: u, user: {client-key-data: eA==}}]", "client-certificate"},
		"not YAML":        {"\t{", "yaml"},
	} {
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
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
