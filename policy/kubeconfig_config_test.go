package policy_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func TestKubeconfigLoad(t *testing.T) {
	path := writeKubeconfig(t, `server: "https://a:1/prefix?q=2", tls-server-name: b, proxy-url: "http://proxy:3"`, "tokenFile: token")
	writeFile(t, filepath.Dir(path), "token", "first\n")
	c, err := kubeconfig.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := c.Proxy(nil)
	if c.Server.String() != "https://a:1/prefix?q=2" || c.TLS.ServerName != "b" || err != nil || proxy.Host != "proxy:3" {
		t.Errorf("%+v, proxy %v, %v", c, proxy, err)
	}
	for _, want := range []string{"first", "second"} { // a replaced token counts immediately
		writeFile(t, filepath.Dir(path), "token", want)
		if got, err := c.Credential.Authorization(t.Context()); got != "Bearer "+want || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// writeKubeconfig writes a kubeconfig with the fields of its cluster and user in YAML flow style,
// and returns its path.
func writeKubeconfig(t *testing.T, cluster, user string) string {
	t.Helper()
	return writeFile(t, t.TempDir(), "config", fmt.Sprintf(`apiVersion: v1
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
`, cluster, user))
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range readCases[[]struct{ Name, Cluster, User, Fault string }](t, "kubeconfig/faults") {
		path := writeKubeconfig(t, c.Cluster, c.User)
		if _, err := kubeconfig.Load(path); err == nil || !strings.Contains(err.Error(), c.Fault) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want %q and the file", c.Name, err, c.Fault)
		}
	}
	checkFaults(t, "kubeconfig/files", func(text string) error {
		_, err := kubeconfig.Load(writeFile(t, t.TempDir(), "f", text))
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("a secret is in the error %v", err)
		}
		return err
	})
	if _, err := kubeconfig.Load(filepath.Join(t.TempDir(), "gone")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
}
