package rbac

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

func TestReadRoleRef(t *testing.T) {
	for _, c := range []struct {
		kind, namespace     string
		ok                  bool
		roleNamespace, role string
	}{
		{"ClusterRole", "", true, "", "clusterroles"},
		{"ClusterRole", "ns", true, "", "clusterroles"},
		{"Role", "ns", true, "ns", "roles"},
		{"Role", "", false, "", ""},
		{"User", "ns", false, "", ""},
	} {
		binding := tree.Tree{"roleRef": tree.Tree{"apiGroup": "g", "kind": c.kind, "name": "n"}}
		ref, ok := readRoleRef(binding, c.namespace)
		if ok != c.ok || ref.name != "n" || ref.group != "g" || ok && (ref.namespace != c.roleNamespace || ref.resource() != c.role) {
			t.Errorf("%s in %q: %+v, %v", c.kind, c.namespace, ref, ok)
		}
	}
	if _, ok := readRoleRef(nil, "ns"); ok {
		t.Error("a reference without a binding")
	}
}
