package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	client.WriteFile(t, path, text)
	return path
}

// bare clears the environment variables that select a kubeconfig. It sets HOME to a new directory
// and returns it.
func bare(t *testing.T) (home string) {
	home = t.TempDir()
	for _, name := range []string{"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "PLATFORM_SERVICE_HOST", "PLATFORM_SERVICE_PORT"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	return home
}

// TestMerging checks that kubeconfigs are merged, and that the first definition of a name wins.
// Relative paths refer to the directory of the file that contains them.
func TestMerging(t *testing.T) {
	home := bare(t)
	one := put(t, t.TempDir(), "one", `clusters: [{name: c, cluster: {server: "https://one"}}]
users: [{name: u, user: {tokenFile: token}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: a}}]
`)
	put(t, filepath.Dir(one), "token", "of one")
	two := put(t, t.TempDir(), "two", `clusters: [{name: c, cluster: {server: "https://two"}}, {name: d, cluster: {server: "https://d"}}]
users: [{name: u, user: {token: of two}}, {name: v, user: {tokenFile: token}}]
contexts: [{name: x, context: {cluster: d, user: v}}, {name: y, context: {cluster: d, user: v}}, {name: z, context: {cluster: c, user: v}}]
current-context: x
`)
	put(t, filepath.Dir(two), "token", "of v")
	three := put(t, t.TempDir(), "three", "current-context: y")
	put(t, home, ".kube/config", `clusters: [{name: h, cluster: {server: "https://home"}}]`)
	gone := filepath.Join(t.TempDir(), "gone")
	for _, test := range []struct {
		list  string
		rules kubeconfig.Rules
		want  string // credentialServer, credential and namespace, or a part of the error
	}{
		{one + ":" + gone + "::" + two + ":" + three, kubeconfig.Rules{}, "https://one|Bearer of one|a"},
		{two + ":" + one, kubeconfig.Rules{}, "https://d|Bearer of v|"},
		{three + ":" + one + ":" + two, kubeconfig.Rules{}, "https://d|Bearer of v|"},
		{one + ":" + two, kubeconfig.Rules{Context: "z"}, "https://one|Bearer of v|"},
		{one + ":" + two, kubeconfig.Rules{Cluster: "d", User: "u", Overrides: kubeconfig.Overrides{Namespace: "b"}}, "https://d|Bearer of one|b"},
		{one, kubeconfig.Rules{Path: two}, "https://d|Bearer of v|"},
		{one, kubeconfig.Rules{Context: "gone"}, `context "gone" does not exist`},
		{one + ":" + two, kubeconfig.Rules{Cluster: "gone"}, `cluster "gone" does not exist`},
		{one + ":" + two, kubeconfig.Rules{User: "gone"}, `user "gone" does not exist`},
		{one, kubeconfig.Rules{Path: gone}, gone + ": no such file"},
		{"", kubeconfig.Rules{}, "https://home||"},
		{"", kubeconfig.Rules{Fallback: two}, "https://home||"},
		{gone, kubeconfig.Rules{Fallback: two}, "https://d|Bearer of v|"},
		{gone, kubeconfig.Rules{}, "client configuration " + gone + ": the file does not exist, or has no clusters"},
		{three, kubeconfig.Rules{}, "client configuration " + three + ": the file does not exist, or has no clusters"},
		{gone, kubeconfig.Rules{Overrides: kubeconfig.Overrides{Server: "https://flag", Token: "f"}}, "https://flag|Bearer f|"},
		{two, kubeconfig.Rules{Overrides: kubeconfig.Overrides{Server: "https://flag", Token: "f"}}, "https://flag|Bearer f|"},
	} {
		t.Setenv("KUBECONFIG", test.list)
		got := ""
		c, err := test.rules.Load()
		if err == nil {
			var header string
			header, err = c.Credential.Authorization(t.Context())
			got = c.Server.String() + "|" + header + "|" + c.Namespace
		}
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("KUBECONFIG=%s, %+v: got %s, want %s", test.list, test.rules, got, test.want)
		}
	}
}

// TestInContainer checks that a client in a Pod finds the server, token, CA and namespace, in both
// naming profiles.
func TestInContainer(t *testing.T) {
	s := serveCredentials(t)
	for prefix, dir := range map[string]string{"PLATFORM": "var/run/secrets/platform.io/serviceaccount", "KUBERNETES": "var/run/secrets/kubernetes.io/serviceaccount"} {
		bare(t)
		root := t.TempDir()
		put(t, root, dir+"/ca.crt", string(pki.PEM(s.Certificate())))
		put(t, root, dir+"/token", "account\n")
		put(t, root, dir+"/namespace", "mine\n")
		host, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
		t.Setenv(prefix+"_SERVICE_HOST", host)
		t.Setenv(prefix+"_SERVICE_PORT", port)
		c, err := kubeconfig.Rules{Container: root}.Load()
		if err != nil {
			t.Fatal(err)
		}
		header, err := c.Credential.Authorization(t.Context())
		if c.Server.String() != s.URL || header != "Bearer account" || c.Namespace != "mine" || c.TLS.RootCAs == nil || err != nil {
			t.Errorf("%s: %+v, %q, %v", prefix, c, header, err)
		}
		if _, err := (kubeconfig.Rules{Container: t.TempDir()}).Load(); err == nil || errors.Is(err, kubeconfig.ErrNone) {
			t.Errorf("%s: without files: %v", prefix, err)
		}
	}
}

// TestCredentialImpersonation checks impersonation through kubeconfig fields and flags.
func TestCredentialImpersonation(t *testing.T) {
	t.Parallel()
	s := serveCredentials(t)
	path := put(t, t.TempDir(), "config", "clusters: [{name: c, cluster: {"+s.cluster()+"}}]\nusers: [{name: u, user: {token: t, as: jane, as-uid: '7', as-groups: [a, b], as-user-extra: {Some/Thing: [x, z]}}}]")
	if _, err := clientCredentials(t, path, kubeconfig.Programs{}).Get(s.URL); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Impersonate-User": "jane", "Impersonate-Uid": "7", "Impersonate-Group": "a,b", "Impersonate-Extra-Some%2fthing": "x,z"} {
		if got := strings.Join(s.last.Values(name), ","); got != want {
			t.Errorf("%s: %q, want %q (of %v)", name, got, want, s.last)
		}
	}
}

// TestEdit checks that Edit keeps unrelated fields, creates a missing file, and does not change a
// file that is not a kubeconfig.
func TestEdit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "config")
	set := func(context string) error {
		return kubeconfig.Edit(path, func(file map[string]any) error { file["current-context"] = context; return nil })
	}
	if err := errors.Join(set("a"), set("b")); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "apiVersion: v1\ncurrent-context: b\nkind: Config\n" {
		t.Errorf("%q, %v", text, err)
	}
	put(t, dir, "sub/config", "a: [")
	if err := set("c"); err == nil || !strings.Contains(err.Error(), "not a client configuration") {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".lock"); !os.IsNotExist(err) {
		t.Error("the lock stays:", err)
	}
}
