package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const guide = "../../../docs/kinds.md"

// shelfStrategy validates cross-field rules of a Shelf.
type shelfStrategy struct{ schema.DefaultStrategy }

func (shelfStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	boards, _ := spec.Int("boards")
	if topics := spec.Object("topics"); int64(len(topics)) > boards {
		faults.Invalid("spec.topics", len(topics), "must not exceed the number of boards")
	}
}

func codeBlocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, part := range strings.Split(string(text), "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```\n")
		all = append(all, block)
	}
	return all
}

func compileExample(t *testing.T) *schema.Kind {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{optionsFile, "meta.proto"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	declared := codeBlocks(t, "proto")
	if len(declared) != 1 {
		t.Fatalf("%d declarations in %s, want 1", len(declared), guide)
	}
	if err := os.WriteFile(filepath.Join(dir, "library.proto"), []byte(declared[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	outputs, err := Generate(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := schema.Load(outputs["declarations.binpb"], meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	k := plan.Kinds[slices.IndexFunc(plan.Kinds, func(k *schema.Kind) bool { return k.Kind == "Shelf" })]
	if err := rules.Compile(nil, k.Message()); err != nil {
		t.Fatal(err)
	}
	k.SetStrategy(shelfStrategy{})
	return k
}

// TestWorkedExample checks that the declaration and the function in docs/kinds.md compile and
// validate objects as documented.
func TestWorkedExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range codeBlocks(t, "go") {
		if !strings.Contains(string(source), block) {
			t.Errorf("this test does not compile the function in %s:\n%s", guide, block)
		}
	}
	k := compileExample(t)
	if k.Resource != "shelves" || k.APIVersion() != "library.platform.io/v1" || k.Subresource("status") == nil {
		t.Errorf("got %+v", k)
	}
	for _, c := range []struct {
		spec string
		want []string
	}{
		{`{"room":"hall","wall":"north"}`, nil},
		{`{"room":"hall","wall":"north","waiting":0,"boards":12,"access":"Locked","keyName":"k","topics":{"a.b/c":"x"},"books":[{"number":"1"},{"number":"2","title":"T"}]}`, nil},
		{`{}`, []string{`spec.room: Required value: every shelf is in a room`, `spec: Required value: must specify where the shelf is`}},
		{`{"room":"The Hall","wall":"n","floor":"e"}`, []string{
			`spec.room: Invalid value: "The Hall": a lowercase RFC 1123 label`, `spec.floor: Forbidden: may not specify more than one place`}},
		{`{"room":"hall","wall":"n","boards":13,"waiting":-1,"access":"Open"}`, []string{
			`spec.boards: Invalid value: 13: must be between 1 and 12, inclusive`, `spec.waiting: Invalid value: -1: must be greater than or equal to 0`,
			`spec.access: Unsupported value: "Open": supported values: "Locked", "Public"`}},
		{`{"room":"hall","wall":"n","access":"Locked"}`, []string{`spec.keyName: Required value: a locked shelf needs a key`}},
		{`{"room":"hall","wall":"n","boards":1,"topics":{"a":"x","b c":"y"}}`, []string{
			`spec.topics: Invalid value: 2: must not exceed the number of boards`, `spec.topics[b c]: Invalid value: "b c": name part must consist`}},
		{`{"room":"hall","wall":"n","books":[{"number":"1"},{"number":"x"},{"number":"1"}]}`, []string{
			`spec.books[1].number: Invalid value: "x": must match the regular expression '^[0-9]+$'`, `spec.books[2].number: Duplicate value: "1"`}},
	} {
		object := shelf(t, k, c.spec)
		expectFaults(t, c.spec, rules.Validate(k, object), c.want)
	}
	old := shelf(t, k, `{"room":"hall","wall":"north"}`)
	if boards, _ := old.Object("spec").Int("boards"); boards != 5 || old.Object("spec").String("access") != "Public" {
		t.Errorf("defaults: got %v", old)
	}
	expectFaults(t, "moved", rules.ValidateUpdate(k, shelf(t, k, `{"room":"attic","wall":"north"}`), old), []string{`spec.room: Invalid value: "attic": field is immutable`})
}

func shelf(t *testing.T, k *schema.Kind, spec string) tree.Tree {
	t.Helper()
	object, faults, err := codec.DecodeJSON(k.Message(), []byte(`{"kind":"Shelf","apiVersion":"library.platform.io/v1","metadata":{"name":"a","namespace":"n"},"spec":`+spec+`}`))
	if err != nil || len(faults) > 0 {
		t.Fatalf("%s: %v, %v", spec, err, faults)
	}
	rules.Default(k, object)
	return object
}

// expectFaults checks that each cause, formatted as "path: message", starts with the corresponding
// prefix in want.
func expectFaults(t *testing.T, label string, causes []meta.Cause, want []string) {
	t.Helper()
	var got []string
	for _, c := range causes {
		got = append(got, c.Field+": "+c.Message)
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%s:\n got  %s\n want %s", label, strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}
