package catalog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func parseTree(t *testing.T, text string) tree.Tree {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v.(tree.Tree)
}

// coreKind finds a core kind under a profile.
func coreKind(t *testing.T, n *meta.Naming, kind string) *schema.Kind {
	t.Helper()
	return kindByGVK(t, n, "", "v1", kind)
}

// create runs what a create runs, in its order, and returns the faults as "path: message".
func create(k *schema.Kind, obj tree.Tree) []string {
	rules.Default(k, obj)
	if k.Rules.Prepare != nil {
		k.Rules.Prepare(obj, nil)
	}
	return lines(append(rules.Validate(k, obj), rules.ValidateServed(k, obj, nil)...))
}

// update runs what an update of the main resource runs.
func update(k *schema.Kind, obj, old tree.Tree) []string {
	rules.Default(k, obj)
	if k.Rules.Prepare != nil {
		k.Rules.Prepare(obj, old)
	}
	causes := append(rules.Validate(k, obj), rules.ValidateUpdate(k, obj, old)...)
	return lines(append(causes, rules.ValidateServed(k, obj, old)...))
}

func lines(causes []meta.Cause) []string {
	out := make([]string, len(causes))
	for i, c := range causes {
		out[i] = c.Field + ": " + c.Message
	}
	return out
}

// named completes an object of a test with a name and a namespace.
func named(k *schema.Kind, obj tree.Tree) tree.Tree {
	m := obj.EnsureObject("metadata")
	if m["name"] == nil {
		m["name"] = "x"
	}
	if k.Namespaced && m["namespace"] == nil {
		m["namespace"] = "ns"
	}
	return obj
}

// expect compares the faults of a case; a want that ends in … is only a beginning.
func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	same := slices.EqualFunc(got, want, func(g, w string) bool {
		if begin, ok := strings.CutSuffix(w, "…"); ok {
			return strings.HasPrefix(g, begin)
		}
		return g == w
	})
	if !same {
		t.Errorf("%s:\n got  %s\n want %s", what, strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}

// equalJSON compares a part of a tree with JSON.
func equalJSON(t *testing.T, what string, got any, want string) {
	t.Helper()
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var a, w any
	if json.Unmarshal(b, &a) != nil || json.Unmarshal([]byte(want), &w) != nil {
		t.Fatalf("%s: no JSON: %s", what, want)
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(w)
	if string(x) != string(y) {
		t.Errorf("%s:\n got  %s\n want %s", what, x, y)
	}
}
