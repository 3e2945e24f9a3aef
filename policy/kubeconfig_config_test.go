package policy_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
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
	for _, want := range []string{"first", "second"} { // a replaced token takes effect immediately
		writeFile(t, filepath.Dir(path), "token", want)
		if got, err := c.Credential.Authorization(t.Context()); got != "Bearer "+want || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// writeKubeconfig writes a kubeconfig with the given cluster and user fields, in YAML flow style,
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

func TestPlainHTTP(t *testing.T) {
	for _, test := range []struct {
		cluster string
		refused bool
	}{
		{`server: "http://192.0.2.1"`, true},
		{`server: "http://192.0.2.1", insecure-skip-tls-verify: true`, false},
		{`server: "http://127.0.0.1"`, false},
		{`server: "http://[::1]"`, false},
		{`server: "http://localhost"`, false},
	} {
		c, err := kubeconfig.Load(writeKubeconfig(t, test.cluster, "token: secret"))
		if err != nil {
			t.Fatal(err)
		}
		dialed := errors.New("dialed")
		transport := c.Transport(func() *http.Transport {
			return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, dialed }}
		})
		_, err = transport.RoundTrip(must.Get(http.NewRequestWithContext(t.Context(), "GET", c.Server.String(), nil))(t))
		if err == nil || errors.Is(err, dialed) == test.refused || test.refused && !strings.Contains(err.Error(), "plain HTTP") {
			t.Errorf("%s: %v", test.cluster, err)
		}
	}
}

func TestLargeKubeconfig(t *testing.T) {
	path := writeFile(t, t.TempDir(), "config", strings.Repeat("#", 16<<20+1))
	if _, err := kubeconfig.Load(path); err == nil || !strings.Contains(err.Error(), "exceeds 16 MiB") {
		t.Errorf("got %v", err)
	}
}
