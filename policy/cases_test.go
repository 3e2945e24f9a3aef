package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"sigs.k8s.io/yaml"
)

type object = json.RawMessage

// readCases decodes a YAML file in testdata. pairs lists placeholders in the file, each followed by
// its replacement.
func readCases[T any](t *testing.T, name string, pairs ...string) (all T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err == nil {
		err = yaml.UnmarshalStrict([]byte(strings.NewReplacer(pairs...).Replace(string(text))), &all)
	}
	if err != nil || reflect.ValueOf(all).IsZero() {
		t.Fatalf("%s: no cases, %v", name, err)
	}
	return all
}

// checkFaults checks that parse returns the expected error for each text in a file. A text without
// an expected error must be valid.
func checkFaults(t *testing.T, name string, parse func(text string) error) {
	t.Helper()
	for _, c := range readCases[[]struct{ Text, Want string }](t, name) {
		err := parse(c.Text)
		if (err == nil) != (c.Want == "") || err != nil && !strings.Contains(err.Error(), c.Want) {
			t.Errorf("%q: got %v, want %q", c.Text, err, c.Want)
		}
	}
}

func parseTree(t testing.TB, text string) tree.Tree {
	t.Helper()
	if text == "" {
		return nil
	}
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(tree.Tree)
}

func decodeConfig(t testing.TB, naming *meta.Naming, name, text string) (tree.Tree, error) {
	t.Helper()
	return must.Get(catalog.New(naming))(t).DecodeConfig(name, []byte(text))
}

func canonical(v any) string { return string(codec.AppendAny(nil, v)) }

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
