package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Parse decodes JSON.
func Parse(t testing.TB, text string) tree.Tree {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v.(tree.Tree)
}

// Create runs the rules of a create in the server's order and returns the faults as "path:
// message". It omits admission, ownership and storage.
func Create(k *schema.Kind, obj tree.Tree) []string {
	rules.Default(k, obj)
	if k.Preparer != nil {
		k.Preparer.Prepare(obj, nil)
	}
	return Lines(append(rules.Validate(k, obj), rules.ValidateServed(k, obj, nil)...))
}

// Update runs the rules of an update of the main resource, like Create.
func Update(k *schema.Kind, obj, old tree.Tree) []string {
	rules.Default(k, obj)
	if k.Preparer != nil {
		k.Preparer.Prepare(obj, old)
	}
	causes := append(rules.Validate(k, obj), rules.ValidateUpdate(k, obj, old)...)
	return Lines(append(causes, rules.ValidateServed(k, obj, old)...))
}

// Lines formats faults as "path: message".
func Lines(causes []meta.Cause) []string {
	out := make([]string, len(causes))
	for i, c := range causes {
		out[i] = c.Field + ": " + c.Message
	}
	return out
}

// Named sets name and namespace of an object if they are missing.
func Named(k *schema.Kind, obj tree.Tree) tree.Tree {
	m := obj.EnsureObject("metadata")
	if m["name"] == nil {
		m["name"] = "x"
	}
	if k.Namespaced && m["namespace"] == nil {
		m["namespace"] = "ns"
	}
	return obj
}
