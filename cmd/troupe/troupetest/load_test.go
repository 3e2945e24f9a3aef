package troupetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

func TestLoad(t *testing.T) {
	s := troupetest.Start(t, troupetest.WithFiles("testdata/objects", "testdata/definition.yaml"))
	for _, path := range []string{
		"/apis/example.com/v1/namespaces/shop/backups/nightly", "/api/v1/namespaces/default/configmaps/a", "/api/v1/namespaces/shop/configmaps/b",
	} {
		mustDo(t, s, 200, "GET", path, "")
	}
	mustDo(t, s, 200, "PUT", "/api/v1/namespaces/default/configmaps/a", `{"metadata":{"name":"a"},"data":{"marker":"another","kept":"yes"}}`)
	s.Load("testdata/objects/2.json")
	if data := mustDo(t, s, 200, "GET", "/api/v1/namespaces/default/configmaps/a", "")["data"]; fmt.Sprint(data) != "map[kept:yes marker:---]" {
		t.Errorf("loaded again: %v", data)
	}
}

// A fatal is a testing.TB that records the message of Fatalf.
type fatal struct {
	scope
	message string
}

func (f *fatal) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestLoadErrors(t *testing.T) {
	const backup = "apiVersion: example.com/v1\nkind: Backup\nmetadata: {name: b}\n"
	for name, test := range map[string]struct{ text, want string }{
		"no YAML":          {"a: [", "document 1: "},
		"duplicate key":    {"---\n# a\n---\nkind: A\nkind: B\n", `document 1: `},
		"no kind":          {"apiVersion: v1\nmetadata: {name: a}\n", "kind not set"},
		"no name":          {"apiVersion: v1\nkind: Pod\n", `Pod "": has no metadata.name`},
		"unknown group":    {"apiVersion: nobody.com/v1\nkind: Pod\nmetadata: {name: a}\n", `Pod "a": nobody.com/v1 does not serve this kind`},
		"unknown kind":     {"apiVersion: v1\nkind: Pot\nmetadata: {name: a}\n", `Pot "a": v1 does not serve this kind`},
		"refused":          {backup + "spec: {keep: 0}\n", "spec.keep: Invalid value: 0: "},
		"unknown field":    {backup + "spec: {kept: 1}\n", "kept"},
		"namespace of it":  {strings.Replace(backup, "name: b", "name: b, namespace: nowhere", 1), `namespaces "nowhere" not found`},
		"list with faults": {"apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n", "apiVersion not set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "objects.yaml")
			must.Succeed(t, os.WriteFile(file, []byte(test.text), 0o600))
			f := &fatal{scope: scope{TB: t}}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				troupetest.Start(f, troupetest.WithFiles("testdata/definition.yaml", file))
			}()
			<-ended
			f.end()
			if !strings.Contains(f.message, file) || !strings.Contains(f.message, test.want) {
				t.Errorf("%q names not %q and the file", f.message, test.want)
			}
		})
	}
}

func TestLoadWithoutFiles(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/nothing.yaml": "does not exist",
		t.TempDir():             "has no .yaml, .yml or .json files",
	} {
		f := &fatal{scope: scope{TB: t}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			troupetest.Start(f, troupetest.WithFiles(path))
		}()
		<-ended
		f.end()
		if !strings.Contains(f.message, want) {
			t.Errorf("%s: %q", path, f.message)
		}
	}
}
