package policy_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func writeUsers(t *testing.T, path string, names ...string) {
	t.Helper()
	text := "kind: Config\nusers:\n"
	for _, name := range names {
		text += "- {name: '" + name + "', user: {token: '" + name + "'}}\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKubeconfigUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	for _, c := range []struct{ names, target, want string }{
		{"a.b.svc", "a.b.svc:443", "a.b.svc"},
		{"a.b.svc", "a.b.svc:8443", ""},
		{"a.b.svc:8443", "a.b.svc:8443", "a.b.svc:8443"},
		{"a.b.svc:8443", "a.b.svc:443", ""},
		{"a.b.svc a.b.svc:443", "a.b.svc:443", "a.b.svc:443"},
		{"*.svc *.b.svc", "a.b.svc:443", "*.b.svc"},
		{"*.svc", "a.b.svc:443", "*.svc"},
		{"*.svc:8443", "a.b.svc:8443", "*.svc:8443"},
		{"*.svc:8443", "a.b.svc:443", ""},
		{"*.b.svc *", "x.c.svc:443", "*"},
		{"*", "192.0.2.1:9443", "*"},
		{"192.0.2.1:9443", "192.0.2.1:9443", "192.0.2.1:9443"},
		{"b.svc", "a.b.svc:443", ""},
	} {
		writeUsers(t, path, strings.Fields(c.names)...)
		users, err := kubeconfig.LoadUsers(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := users.For(c.target).Authorization(t.Context())
		if err != nil || strings.TrimPrefix(got, "Bearer ") != c.want {
			t.Errorf("of %s, %s gets %q, %v; want %q", c.names, c.target, got, err, c.want)
		}
	}
	text := "users: [{name: a, user: {token: t}}]\ncontexts: [{name: c, context: {user: a}}]\ncurrent-context: c"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	users, err := kubeconfig.LoadUsers(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := users.For("x:1").Authorization(t.Context()); got != "Bearer t" {
		t.Errorf("the current context gives %q", got)
	}
}

func TestBrokenUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	for text, want := range map[string]string{
		"users: [{name: a, user: {exec: {command: x}}}]": "exec.apiVersion",
		"users: [{name: a, user: {exec: {command: x, apiVersion: client.authentication.platform.io/v1, interactiveMode: Never, provideClusterInfo: true}}}]": "provideClusterInfo",
		"users: [{name: a, user: {client-key-data: '!'}}]":          "not in base64",
		"users: [{name: a, user: {tokenFile: absent}}]":             "tokenFile",
		"users: [{name: a, user: {client-certificate-data: YQ==}}]": "client-certificate",
		"users: a": "users is of another type",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := kubeconfig.LoadUsers(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestUsersFileIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "users")
		writeUsers(t, path, "a:1")
		f, err := kubeconfig.OpenUsers(path, slog.New(slog.NewTextHandler(io.Discard, nil)))
		if err != nil {
			t.Fatal(err)
		}
		get := func(target string) string {
			header, _ := f.For(target).Authorization(t.Context())
			return header
		}
		if get("a:1") != "Bearer a:1" {
			t.Error("no credential")
		}
		if err := os.WriteFile(path, []byte("users: ["), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if get("a:1") != "Bearer a:1" {
			t.Error("a broken file takes the credentials away")
		}
		writeUsers(t, path, "a:1", "b:2")
		time.Sleep(time.Minute)
		if get("b:2") != "Bearer b:2" {
			t.Error("the new file is not read")
		}
	})
}
