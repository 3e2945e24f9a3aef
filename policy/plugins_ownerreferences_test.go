package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

func TestOwnerReferencesPermissionEnforcement(t *testing.T) {
	kinds := func(gvk meta.GroupVersionKind) *schema.Kind {
		var k *schema.Kind
		switch gvk {
		case meta.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}:
			k = kind("apps", "replicasets")
			k.Namespaced = true
		case meta.GroupVersionKind{Version: "v1", Kind: "Node"}:
			k = kind("", "nodes")
		}
		return k
	}
	owned := func(refs string) string { return `{"metadata":{"ownerReferences":[` + refs + `]}}` }
	const (
		plain   = `{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"1"}`
		blocks  = `{"apiVersion":"apps/v1","blockOwnerDeletion":true,"kind":"ReplicaSet","name":"r","uid":"1"}`
		node    = `{"apiVersion":"v1","blockOwnerDeletion":true,"kind":"Node","name":"n","uid":"2"}`
		unknown = `{"apiVersion":"a.b/v1","blockOwnerDeletion":true,"kind":"X","name":"x","uid":"3"}`

		noDelete     = "cannot set an ownerRef on a resource you can't delete: no role, <nil>"
		noFinalizers = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no role, <nil>"
		noKind       = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion a.b/v1 Kind X: no matches for kind "X" in version "a.b/v1"`

		mayDelete   = "delete /pods/ ns/o"
		mayReplicas = "update apps/replicasets/finalizers ns/r"
		mayNode     = "update /nodes/finalizers /n"
		mayAll      = "update */*/finalizers /*"
	)
	for _, test := range []struct {
		admissionTest
		may permissions
	}{
		{admissionTest{name: "no owners", new: `{}`}, nil},
		{admissionTest{name: "a new object may have owners", new: owned(plain)}, nil},
		{admissionTest{name: "that it blocks", new: owned(blocks), fault: noFinalizers}, permissions{mayDelete, mayNode}},
		{admissionTest{name: "with the right", new: owned(blocks)}, permissions{mayReplicas}},
		{admissionTest{name: "with all rights", new: owned(blocks + "," + unknown)}, permissions{mayAll}},
		{admissionTest{name: "at cluster scope", new: owned(node)}, permissions{mayNode}},
		{admissionTest{name: "both", new: owned(blocks + "," + node), fault: noFinalizers}, permissions{mayReplicas}},
		{admissionTest{name: "a kind that is not served", new: owned(unknown), fault: noKind}, nil},
		{admissionTest{name: "unchanged", old: owned(blocks), new: owned(blocks)}, nil},
		{admissionTest{name: "added later", old: `{}`, new: owned(plain), fault: noDelete}, permissions{mayReplicas, mayAll}},
		{admissionTest{name: "added with the right", old: `{}`, new: owned(plain)}, permissions{mayDelete}},
		{admissionTest{name: "taken away", old: owned(blocks), new: `{}`, fault: noDelete}, nil},
		{admissionTest{name: "taken away with the right", old: owned(blocks), new: `{}`}, permissions{mayDelete}},
		{admissionTest{name: "blocked later", old: owned(plain), new: owned(blocks), fault: noFinalizers}, permissions{mayDelete}},
		{admissionTest{name: "blocked later with the rights", old: owned(plain), new: owned(blocks)}, permissions{mayDelete, mayReplicas}},
		{admissionTest{name: "blocked before", old: owned(blocks), new: owned(blocks + "," + plain)}, permissions{mayDelete}},
		{admissionTest{name: "a delete", old: owned(blocks)}, nil},
		{admissionTest{name: "of a status", resource: "/pods/status", old: `{}`, new: owned(blocks)}, nil},
		{admissionTest{name: "of a sub-resource", resource: "/pods/resize", old: `{}`, new: owned(plain), fault: noDelete}, permissions{mayDelete}},
		{admissionTest{name: "of a sub-resource with the right", resource: "/pods/resize", old: `{}`, new: owned(plain)}, permissions{"delete /pods/resize ns/o"}},
	} {
		if test.resource == "" {
			test.resource = "/pods"
		}
		test.run(t, newChain(t, storedObjects{}, plugins.OwnerReferencesPermissionEnforcement(test.may, kinds)))
	}
}
