package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/troupe-api/troupe/test/client"
)

// TestRelease checks the inventory of the release in testdata/release.txtar.
func TestRelease(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/release.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root, want := t.TempDir(), ""
	for _, f := range archive.Files {
		if f.Name == "want.json" {
			want = string(f.Data)
			continue
		}
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(f.Name)), 0o700); err != nil {
			t.Fatal(err)
		}
		client.WriteFile(t, filepath.Join(root, f.Name), f.Data)
	}
	s := newSource("1.99.0")
	s.modules[kubernetes] = filepath.Join(root, "kubernetes")
	for _, name := range libraries {
		s.modules["k8s.io/"+name] = filepath.Join(root, name)
	}
	i, err := newRelease(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := i.text()
	if err != nil || string(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	var back inventory
	client.Decode(t, got, &back)
	if rows, err := newRows(i, back, nil); err != nil || printChecklist(t.Output(), rows, false) != nil {
		t.Errorf("the inventory differs from its text: %v", err)
	}
	s.modules["k8s.io/apiserver"] = t.TempDir()
	s.packages = map[string]*goPackage{}
	if _, err := newRelease(s); err == nil {
		t.Error("a package without files is no error")
	}
}

// TestChecklist checks which rows are open, and that a single open row causes an error.
func TestChecklist(t *testing.T) {
	t.Parallel()
	parse := func(text string) (i inventory) {
		client.Decode(t, text, &i)
		return i
	}
	want := parse(`{"flags":{"a":"","b":"","c":""},"roles":{"r":"pods(get,list) nodes(get)"},"schemas":{"s":"x(string,required) y(string)"}}`)
	have := parse(`{"flags":{"a":"","d":""},"roles":{"r":"pods(get,watch) nodes(get) jobs(get)","q":"pods(get)"},"schemas":{"s":"x(string) y(string,enum=a) z"}}`)
	rules, err := readDeclined([]byte("# comment\n\n> No b.\nflags b: missing\n\n> Not granted.\nroles r (jobs|pods): .*\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := newRows(want, have, rules)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	err = printChecklist(&text, rows, false)
	const checklist = `flags: 1 implemented, 1 declined, 1 open
  declined     b  missing: No b.
  open         c  missing
roles: 1 implemented, 2 declined, 0 open
  declined     r jobs  not in Kubernetes: Not granted.
  declined     r pods  lacks list: Not granted.
schemas: 1 implemented, 0 declined, 1 open
  open         s x  lacks required
`
	if err == nil || err.Error() != "2 rows are open" || text.String() != checklist {
		t.Errorf("%v\n%s", err, &text)
	}
	have.add("flags", "c", "")
	have.add("schemas", "s", "x", "required")
	if rows, err = newRows(want, have, rules); err != nil || printChecklist(t.Output(), rows, true) != nil {
		t.Errorf("open rows, although all are implemented or declined: %v", err)
	}
	have.add("flags", "b", "")
	if _, err := newRows(want, have, rules); err == nil || !strings.Contains(err.Error(), "no row matches ^(flags b: missing)$") {
		t.Errorf("a rule for an implemented row: %v", err)
	}
	if _, err := readDeclined([]byte("flags b: missing")); err == nil {
		t.Error("a pattern without a reason is no error")
	}
}

// TestSources checks that metrics are found even if their names are joined from two literals.
func TestSources(t *testing.T) {
	t.Parallel()
	i := inventory{}
	i.addMetrics([]byte(`New("a_total", "help") ; New("b_" + name) ; of("size") ; prefix+"_bytes"`))
	for _, name := range []string{"a_total", "b_size", "size_bytes"} {
		if _, ok := i["metrics"][name]; !ok {
			t.Errorf("no %s in %v", name, i["metrics"])
		}
	}
}

// TestRecorded checks that all rows of the recorded release are implemented or declined.
func TestRecorded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != 1 {
		t.Fatalf("want one recorded release: %q, %v", files, err)
	}
	var want inventory
	if err := json.Unmarshal(client.ReadFile(t, files[0]), &want); err != nil {
		t.Fatal(err)
	}
	if err := check(t.Context(), t.Output(), t.TempDir(), want, false); err != nil {
		t.Errorf("%s: %v", files[0], err)
	}
}
