package rbac

import "github.com/troupe-api/troupe/kinds/tree"

type roleRef struct {
	group, kind, name string
	namespace         string // namespace of the role; "" for a ClusterRole
}

// readRoleRef decodes a binding's roleRef. namespace is the binding's namespace, or "" for a
// ClusterRoleBinding. ok is false for an invalid reference, which grants nothing.
func readRoleRef(binding tree.Tree, namespace string) (ref roleRef, ok bool) {
	t := binding.Object("roleRef")
	ref = roleRef{group: t.String("apiGroup"), kind: t.String("kind"), name: t.String("name")}
	switch {
	case ref.kind == "ClusterRole":
		return ref, true
	case ref.kind == "Role" && namespace != "":
		ref.namespace = namespace
		return ref, true
	}
	return ref, false
}

func (r roleRef) resource() string {
	if r.kind == "Role" {
		return "roles"
	}
	return "clusterroles"
}

// AggregationSelectors returns the label selectors of the ClusterRoles that a ClusterRole
// aggregates.
func AggregationSelectors(role tree.Tree) []tree.Tree {
	return role.Object("aggregationRule").Objects("clusterRoleSelectors")
}
