package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestCases runs the cases in <group>/testdata/<kind>.txt; docs/kinds.md describes the format. With
// -update, it records the results.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("*/testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(strings.Replace(strings.TrimSuffix(path, ".txt"), "/testdata", "", 1), func(t *testing.T) {
			var s section
			golden.Run(t, path, func(given []string) string { return s.run(t, given) })
		})
	}
}

// TestMisspelledCase checks that a case fails for a field that its kind does not declare.
func TestMisspelledCase(t *testing.T) {
	var s section
	s.open(t, []string{"kubernetes", "v1", "Service", ""})
	s.at = "spec"
	for _, c := range []struct {
		words, old, given, want string
	}{
		{"update", `{"ports":[{"port":1}]}`, `{"ports[0].port":2}`, "<nil>"},
		{"create", `{}`, `{"tipe":"NodePort"}`, `unknown field "spec.tipe"`},
		{"replace", `{"old.type":"NodePort"}`, `{}`, `unknown field "spec.old"`},
		{"write status", `{}`, `{"status.note":"a"}`, `unknown field "status.note"`},
		{"create", `{}`, `{"type":1}`, "json: cannot unmarshal number into Go struct field ServiceSpec.spec.type of type string"},
	} {
		words := append(strings.Fields(c.words), "")
		if got := fmt.Sprint(s.check(t, words[0], words[1], Parse(t, c.old), Parse(t, c.given))); got != c.want {
			t.Errorf("%s %s %s: got %s, want %s", c.words, c.old, c.given, got, c.want)
		}
	}
}

// A section defines the context of test cases: the kind, and the object that each case modifies.
type section struct {
	naming *meta.Naming
	kind   *schema.Kind
	base   tree.Tree
	drops  bool      // writes drop the fields of disabled features
	at     string    // the parent path of the changes
	texts  tree.Tree // named texts, which cases reference as <<name>>
}

// run runs a block and returns its results, or "" if the block only sets up a section.
func (s *section) run(t *testing.T, lines []string) string {
	t.Helper()
	words := append(strings.Fields(lines[0]), "", "", "")
	name := strings.Join(lines, "\n")
	given, err := codec.DecodeUntyped([]byte(s.expand(strings.Join(lines[1:], "\n"))))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	switch words[0] {
	case "let":
		s.texts = given
		return ""
	case "kind":
		s.open(t, words[1:])
		return ""
	case "base":
		s.at, _ = given["at"].(string)
		delete(given, "at")
		s.base = changed(t, tree.Tree{}, "", given)
		return ""
	}
	show := listed(given.String("show"))
	old, isMap := given["old"].(tree.Tree)
	if _, ok := given["old"]; ok && !isMap {
		t.Errorf("%s: old is not a map of values by path", name)
	}
	delete(given, "show")
	delete(given, "old")
	if err := s.check(t, words[0], words[1], old, given); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	obj, faults := s.write(t, words[0], words[1], old, given)
	if len(faults) == 0 {
		faults = []string{"valid"}
	}
	for _, path := range show {
		faults = append(faults, path+" = "+shown(t, obj, path))
	}
	for i, line := range faults {
		faults[i] = collapse(strings.ReplaceAll(line, "\n", `\n`))
	}
	return strings.Join(faults, "\n")
}

func (s *section) open(t *testing.T, words []string) {
	t.Helper()
	s.naming = map[string]*meta.Naming{"platform": meta.Platform, "kubernetes": meta.Kubernetes}[words[0]]
	group, version, ok := strings.Cut(words[1], "/")
	if !ok {
		group, version = "", group
	}
	s.kind, s.base, s.at = kindWithFeatures(t, s.naming, words[3], group, version, words[2]), tree.Tree{}, ""
	s.drops = words[3] != "" && words[3] != "none"
}

// check returns an error if the objects of a case have unknown fields, or values of a wrong type.
func (s *section) check(t *testing.T, operation, target string, old, given tree.Tree) error {
	t.Helper()
	kind, stored := s.kind, changed(t, s.base, s.at, old)
	body := changed(t, s.base, s.at, given)
	switch operation {
	case "update":
		body = changed(t, stored, s.at, given)
	case "write":
		body = changed(t, tree.Tree{}, "", given)
		if k := s.kind.Subresource(target).BodyKind; k != nil {
			kind = k
		}
	}
	_, unknown, err := codec.Conform(kind.Message(), body, nil)
	_, unknownOld, oldErr := codec.Conform(s.kind.Message(), stored, nil)
	errs := []error{err, oldErr}
	for _, f := range append(unknown, unknownOld...) {
		errs = append(errs, errors.New(f.String()))
	}
	return errors.Join(errs...)
}

func (s *section) write(t *testing.T, operation, target string, old, given tree.Tree) (tree.Tree, []string) {
	t.Helper()
	now := changed(t, s.base, s.at, given)
	if operation == "create" {
		obj, faults := create(s.kind, s.dropped(now, nil))
		return obj, s.withWarnings(faults, obj, nil)
	}
	if operation == "read" {
		old = given
	}
	stored, found := s.stored(changed(t, s.base, s.at, old))
	obj, faults := stored, []string(nil)
	switch operation {
	case "update":
		obj, faults = update(s.kind, s.dropped(changed(t, stored, s.at, given), stored), stored)
		faults = s.withWarnings(faults, obj, stored)
	case "replace":
		obj, faults = update(s.kind, s.dropped(now, stored), stored)
		faults = s.withWarnings(faults, obj, stored)
	case "write":
		obj, faults = writeSubresource(s.kind, target, stored, s.dropped(changed(t, tree.Tree{}, "", given), stored))
	case "read":
		group, version, ok := strings.Cut(target, "/")
		if !ok {
			group, version = s.kind.Group, target
		}
		obj = convert.FromStored(KindByGVK(t, s.naming, group, version, s.kind.Kind), nil, stored)
	default:
		t.Fatalf("unknown operation %s", operation)
	}
	return obj, append(found, faults...)
}

func (s *section) dropped(obj, old tree.Tree) tree.Tree {
	if s.drops {
		if featured := rules.Featured(s.kind.Stored); featured != nil {
			rules.DropDisabled(featured, obj, old)
		}
	}
	return obj
}

// stored creates an object and sets its status. It prefixes create errors with "old ".
func (s *section) stored(obj tree.Tree) (tree.Tree, []string) {
	status, _ := tree.Clone(obj["status"]).(tree.Tree)
	stored, faults := create(s.kind, obj)
	for i := range faults {
		faults[i] = "old " + faults[i]
	}
	for name, value := range status {
		stored.EnsureObject("status")[name] = value
	}
	return stored, faults
}

func (s *section) withWarnings(faults []string, obj, old tree.Tree) []string {
	if len(faults) > 0 || s.kind.Stored == nil {
		return faults
	}
	for _, text := range rules.Warnings(s.kind.Stored, obj, old) {
		faults = append(faults, "warning: "+text)
	}
	return faults
}

// create runs the steps of a server create in order, without admission, managed fields and storage.
// It returns the stored object, and errors as "path: message".
func create(k *schema.Kind, obj tree.Tree) (tree.Tree, []string) {
	if k.Stored == nil || k.Virtual() {
		var faults schema.Faults
		rules.ValidateRules(k, obj, nil, &faults)
		return obj, Lines(faults.List)
	}
	Named(k, obj)
	obj = convert.ToStored(k, obj)
	if k.Stored.Preparer != nil {
		k.Stored.Preparer.Prepare(obj, nil)
	}
	k.Stored.Strategy.FinishCreate(obj)
	return obj, Lines(append(rules.Validate(k.Stored, obj), completed(rules.ValidateServed(context.Background(), k, obj, nil))...))
}

func completed(causes []meta.Cause, err error) []meta.Cause {
	if err != nil {
		panic(err) // only a done context is an error
	}
	return causes
}

func update(k *schema.Kind, obj, old tree.Tree) (tree.Tree, []string) {
	obj = convert.ToStored(k, Named(k, obj))
	if k.Stored.Preparer != nil {
		k.Stored.Preparer.Prepare(obj, old)
	}
	causes := append(completed(rules.ValidateChange(context.Background(), k.Stored, obj, old)), rules.ValidateUpdate(k.Stored, obj, old)...)
	return obj, Lines(append(causes, completed(rules.ValidateServed(context.Background(), k, obj, old))...))
}

func writeSubresource(k *schema.Kind, name string, old, body tree.Tree) (tree.Tree, []string) {
	obj := tree.Clone(old).(tree.Tree)
	var faults schema.Faults
	if err := k.Subresource(name).View.Write(obj, body, "2026-01-02T00:00:00Z", &faults); err != nil {
		return obj, []string{"error: " + err.Error()}
	}
	rules.Default(k, obj)
	return obj, Lines(append(faults.List, completed(rules.ValidateChange(context.Background(), k, obj, old))...))
}

// changed returns a copy of base with the given values set at paths relative to at. The key
// "remove" lists paths to remove.
func changed(t *testing.T, base tree.Tree, at string, changes tree.Tree) tree.Tree {
	t.Helper()
	obj := tree.Clone(base).(tree.Tree)
	if at != "" {
		at += "."
	}
	for _, path := range listed(changes.String("remove")) {
		set(t, obj, at+path, removed)
	}
	for _, path := range changes.SortedKeys() {
		if path != "remove" {
			set(t, obj, at+path, changes[path])
		}
	}
	return obj
}

// removed makes set delete the field.
var removed = new(int)

var pathStep = regexp.MustCompile(`\.?([^.\[\]]+)|\[([^\]]*)\]`)

// set sets the value at a path such as spec.containers[0].image or metadata.labels[a.b/c]. An index
// equal to the length of a list appends to it.
func set(t *testing.T, obj tree.Tree, path string, value any) {
	t.Helper()
	steps := pathStep.FindAllStringSubmatch(path, -1)
	var at any = obj
	replace := func(any) {}
	for i, step := range steps {
		name := step[1] + step[2]
		next := any(tree.Tree{})
		if i == len(steps)-1 {
			next = value
		}
		switch parent := at.(type) {
		case tree.Tree:
			if child, ok := parent[name]; ok && i < len(steps)-1 {
				next = child
			}
			if parent[name] = next; next == removed {
				delete(parent, name)
			}
			replace = func(list any) { parent[name] = list }
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n > len(parent) {
				t.Fatalf("no item %s in %s", name, path)
			}
			if n == len(parent) {
				parent = append(parent, next)
				replace(parent)
			} else if i < len(steps)-1 {
				next = parent[n]
			}
			parent[n] = next
			replace = func(list any) { parent[n] = list }
		default:
			t.Fatalf("%s of %s is in a value", name, path)
		}
		at = next
	}
}

func shown(t *testing.T, obj tree.Tree, path string) string {
	t.Helper()
	var at any = obj
	for _, step := range pathStep.FindAllStringSubmatch(path, -1) {
		switch parent := at.(type) {
		case tree.Tree:
			at = parent[step[1]+step[2]]
		case []any:
			n, err := strconv.Atoi(step[2])
			if err != nil {
				t.Fatal(err)
			}
			at = parent[n]
		default:
			return "none"
		}
	}
	if at == nil {
		return "none"
	}
	text, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func listed(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ", ")
}

// abbreviation matches <<N*TEXT>>, which repeats a text, and <<NAME>>, which inserts a named text.
// Each # in a repeated text becomes the copy's number.
var abbreviation = regexp.MustCompile(`<<(\d+)\*(.*?)>>|<<(\w+)>>`)

func (s *section) expand(text string) string {
	return abbreviation.ReplaceAllStringFunc(text, func(match string) string {
		parts := abbreviation.FindStringSubmatch(match)
		if parts[3] != "" {
			quoted, _ := json.Marshal(s.texts.String(parts[3]))
			return strings.Trim(string(quoted), `"`)
		}
		n, _ := strconv.Atoi(parts[1])
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(parts[2], "#", strconv.Itoa(i)))
		}
		return b.String()
	})
}

// collapse abbreviates each run of 50 or more equal characters as <<N*C>>.
func collapse(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		_, size := utf8.DecodeRuneInString(text)
		c, n := text[:size], 1
		for strings.HasPrefix(text[n*size:], c) {
			n++
		}
		if n < 50 {
			b.WriteString(text[:n*size])
		} else {
			fmt.Fprintf(&b, "<<%d*%s>>", n, c)
		}
		text = text[n*size:]
	}
	return b.String()
}
