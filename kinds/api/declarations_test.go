package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
	"github.com/troupe-api/troupe/kinds/schema"
)

// declaredFile is the golden file of the declared rules. Each line contains message, field, rule
// and value.
const declaredFile = "testdata/declared.txt"

// TestDeclaredRules compares all declared rules with a golden file, so that reviews show changes.
func TestDeclaredRules(t *testing.T) {
	got := declared(messages(t))
	if *golden.Update {
		if err := os.WriteFile(declaredFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(declaredFile)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(b), "\n")
	have := strings.Split(got, "\n")
	for _, line := range want {
		if !slices.Contains(have, line) {
			t.Errorf("no longer declared: %s", line)
		}
	}
	for _, line := range have {
		if !slices.Contains(want, line) {
			t.Errorf("declared anew: %s", line)
		}
	}
}

func messages(t *testing.T) map[string]*schema.Message {
	t.Helper()
	p, err := schema.Load(api.Encoded, meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Messages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func declared(messages map[string]*schema.Message) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		m := messages[name]
		for _, f := range m.Fields {
			for _, r := range rulesDeclared(m, f) {
				fmt.Fprintf(&b, "%s %s %s\n", name, f.Name, r)
			}
		}
	}
	return b.String()
}

// rulesDeclared returns a field's rules, each as "name value" or "name".
func rulesDeclared(m *schema.Message, f *schema.Field) []string {
	var all []string
	add := func(is bool, rule string, value any) {
		if !is {
			return
		}
		if value != nil {
			b, _ := json.Marshal(value)
			rule += " " + string(b)
		}
		all = append(all, rule)
	}
	add(f.Default != nil, "default", f.Default)
	add(f.Required, "required", nil)
	add(f.Immutable, "immutable", nil)
	add(len(f.Enum) > 0, "enum", f.Enum)
	add(f.Min != nil, "min", f.Min)
	add(f.Max != nil, "max", f.Max)
	add(f.MinLength > 0, "min_length", f.MinLength)
	add(f.MaxLength > 0, "max_length", f.MaxLength)
	add(f.MaxItems > 0, "max_items", f.MaxItems)
	add(f.Pattern != "", "pattern", f.Pattern)
	add(f.Format != "", "format", f.Format)
	add(f.KeyFormat != "", "key_format", f.KeyFormat)
	add(f.Empty == schema.EmptyChecked, "empty", "checked")
	add(len(f.RequiredFields) > 0, "required_fields", f.RequiredFields)
	add(f.RequiredWhen != nil, "required_when", f.RequiredWhen)
	add(len(f.ReservedDomains) > 0, "reserved_keys", f.ReservedDomains)
	add(f.Shape == schema.List && f.ListType == schema.ListSet, "unique", nil)
	add(f.Shape == schema.List && f.ListType == schema.ListMap, "unique", f.ListMapKeys)
	return all
}

// TestConformanceWords checks the words that the conformance suite of Kubernetes searches for in
// the output of kubectl explain.
func TestConformanceWords(t *testing.T) {
	kinds := NewCatalog(t, meta.Kubernetes)
	documents := openapi.New(openapi.Options{Naming: kinds.Naming(), Kinds: kinds.Kinds(), Message: kinds.Message, Version: "v1"})
	reader := must.Get(gzip.NewReader(bytes.NewReader(documents.V3("api/v1").Gzip(openapi.JSON))))(t)
	text := must.Get(io.ReadAll(reader))(t)
	for _, words := range []string{"APIVersion defines", "Standard object's metadata", "CreationTimestamp is a timestamp"} {
		if !bytes.Contains(text, []byte(words)) {
			t.Errorf("no description has %q", words)
		}
	}
}
