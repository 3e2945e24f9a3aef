package policy_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func TestKubeconfigLoad(t *testing.T) {
	path := writeKubeconfig(t, `server: "https://a:1/prefix?q=2", tls-server-name: b, proxy-url: "http://proxy:3"`, "tokenFile: token")
	token := filepath.Join(filepath.Dir(path), "token")
	if err := os.WriteFile(token, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kubeconfig.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := c.Proxy(nil)
	if c.Server.String() != "https://a:1/prefix?q=2" || c.TLS.ServerName != "b" || err != nil || proxy.Host != "proxy:3" {
		t.Errorf("%+v, proxy %v, %v", c, proxy, err)
	}
	for _, want := range []string{"first", "second"} { // a replaced token counts immediately
		if err := os.WriteFile(token, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Credential.Authorization(t.Context()); got != "Bearer "+want || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// writeKubeconfig writes a kubeconfig with the fields of its cluster and user in YAML flow style,
// and returns its path.
func writeKubeconfig(t *testing.T, cluster, user string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: other
  cluster: {server: "https://127.0.0.1:1"}
- name: c
  cluster: {%s}
users:
- name: u
  user: {%s}
contexts:
- name: x
  context: {cluster: c, user: u}
current-context: x
`, cluster, user)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadRefuses(t *testing.T) {
	const good = `server: "https://a"`
	for name, test := range map[string]struct{ cluster, user, fault string }{
		"no server":               {`server: ""`, "", "server is no"},
		"another scheme":          {`server: "ftp://a"`, "", "server is no"},
		"no host":                 {`server: "https:///x"`, "", "server is no"},
		"a CA that is none":       {good + `, certificate-authority-data: aGFsbG8=`, "", "holds no certificate"},
		"a CA that is missing":    {good + `, certificate-authority: gone.crt`, "", "certificate-authority"},
		"bad base64":              {good + `, certificate-authority-data: "%%"`, "", "base64"},
		"a certificate alone":     {good, "client-certificate-data: " + base64.StdEncoding.EncodeToString([]byte("a certificate")), "client-certificate"},
		"a field of another type": {good, "token: [s3cret]", "users.user.token is of another type"},
		"a group without a user":  {good, "as-groups: [g]", "need as"},
		"a bad proxy":             {good + `, proxy-url: ":"`, "", "proxy-url"},
	} {
		path := writeKubeconfig(t, test.cluster, test.user)
		if _, err := kubeconfig.Load(path); err == nil || !strings.Contains(err.Error(), test.fault) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want %q and the file", name, err, test.fault)
		}
	}
	for name, test := range map[string]struct{ text, fault string }{
		"no YAML":           {"a: [s3cret", "no client configuration"},
		"nothing":           {"", "current-context"},
		"no such context":   {"clusters: [{name: c, cluster: {server: \"https://a\"}}]\ncurrent-context: gone", `"gone"`},
		"no such cluster":   {"contexts: [{name: x, context: {cluster: gone}}]\ncurrent-context: x", `cluster "gone"`},
		"no such user":      {"clusters: [{name: c, cluster: {server: \"https://a\"}}]\ncontexts: [{name: x, context: {cluster: c, user: gone}}]\ncurrent-context: x", `user "gone"`},
		"two of everything": {"clusters: [{name: a}, {name: b}]", "current-context"},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := kubeconfig.Load(path); err == nil || !strings.Contains(err.Error(), test.fault) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got error %v, want %q", name, err, test.fault)
		}
	}
	if _, err := kubeconfig.Load(filepath.Join(t.TempDir(), "gone")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
}
