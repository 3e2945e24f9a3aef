package api_test

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestDeprecations(t *testing.T) {
	d := autoscaler(t, "v2beta2").Deprecation
	if d == nil || *d != (schema.Deprecation{Since: "1.23", Removed: "1.26", Replacement: "autoscaling/v2 HorizontalPodAutoscaler"}) {
		t.Errorf("v2beta2: %v", d)
	}
	if autoscaler(t, "v1").Deprecation != nil || autoscaler(t, "v2").Deprecation != nil {
		t.Error("v1 and v2 are deprecated")
	}
}

func TestSubresources(t *testing.T) {
	account := KindByGVK(t, meta.Platform, "", "v1", "ServiceAccount")
	if !account.Writes.DeleteReturnsObject || account.Writes.Generation {
		t.Errorf("writes of a ServiceAccount: %+v", account.Writes)
	}
	if s := account.Subresource("token"); s == nil || s.BodyKind.Kind != "TokenRequest" || !slices.Equal(s.Verbs, []string{"create"}) {
		t.Errorf("token of a ServiceAccount: %+v", s)
	}
	if !KindByGVK(t, meta.Platform, "", "v1", "Pod").Subresource("binding").View.KeepsGeneration {
		t.Error("a binding counts as a change of the spec")
	}
}

// TestWarningWithInvalidUTF8 checks warnings about strings with invalid UTF-8, which Protobuf
// allows and JSON does not.
func TestWarningWithInvalidUTF8(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "apiextensions.platform.io", "v1", "CustomResourceDefinition")
	_, faults := create(k, tree.Tree{"metadata": tree.Tree{"name": "widgets.a.example"}, "spec": tree.Tree{
		"group": "a.example", "scope": "Namespaced", "names": tree.Tree{"plural": "widgets", "kind": "Widget"},
		"versions": []any{tree.Tree{"name": "v1", "served": true, "storage": true, "deprecated": true, "deprecationWarning": "a\xff",
			"schema": tree.Tree{"openAPIV3Schema": tree.Tree{"type": "object"}}}}}})
	if want := `spec.versions[0].deprecationWarning: Invalid value: "a\xff": must only contain printable UTF-8 characters`; !slices.Equal(faults, []string{want}) {
		t.Errorf("got %q, want %s", faults, want)
	}
}
