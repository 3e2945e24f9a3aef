package policy_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func writeUsers(t *testing.T, dir string, names ...string) (path string) {
	t.Helper()
	text := "kind: Config\nusers:\n"
	for _, name := range names {
		text += "- {name: '" + name + "', user: {token: '" + name + "'}}\n"
	}
	return writeFile(t, dir, "users", text)
}

func TestKubeconfigUsers(t *testing.T) {
	get := func(path, target string) string {
		users, err := kubeconfig.LoadUsers(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := users.For(target).Authorization(t.Context())
		if err != nil {
			t.Error(err)
		}
		return strings.TrimPrefix(got, "Bearer ")
	}
	for _, c := range readCases[[]struct{ Names, Target, Want string }](t, "kubeconfig/users") {
		if got := get(writeUsers(t, t.TempDir(), strings.Fields(c.Names)...), c.Target); got != c.Want {
			t.Errorf("of %s, %s gets %q, want %q", c.Names, c.Target, got, c.Want)
		}
	}
	const text = "users: [{name: a, user: {token: t}}]\ncontexts: [{name: c, context: {user: a}}]\ncurrent-context: c"
	if got := get(writeFile(t, t.TempDir(), "users", text), "x:1"); got != "t" {
		t.Errorf("the current context gives %q", got)
	}
}

func TestBrokenUsers(t *testing.T) {
	checkFaults(t, "kubeconfig/users-faults", func(text string) error {
		_, err := kubeconfig.LoadUsers(writeFile(t, t.TempDir(), "users", text))
		return err
	})
}

func TestUsersFileIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := writeUsers(t, dir, "a:1")
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
		writeFile(t, dir, "users", "users: [")
		time.Sleep(time.Minute)
		if get("a:1") != "Bearer a:1" {
			t.Error("a broken file takes the credentials away")
		}
		writeUsers(t, dir, "a:1", "b:2")
		time.Sleep(time.Minute)
		if get("b:2") != "Bearer b:2" {
			t.Error("the new file is not read")
		}
	})
}
