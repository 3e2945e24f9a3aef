package rbac

import "github.com/troupe-api/troupe/kinds/tree"

// A roleRef is the role that a binding refers to.
type roleRef struct {
	group, kind, name string
	namespace         string // of the role; "" for a cluster role
}

// readRoleRef reads the reference of a binding in a namespace; "" is a cluster role binding. ok is
// false if no role can be meant: bindings with such a reference grant nothing.
//
// A cluster role that is bound in a namespace gives its rules there and nowhere else, which is how one role serves
// many namespaces.
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

// resource is the resource of the role.
func (r roleRef) resource() string {
	if r.kind == "Role" {
		return "roles"
	}
	return "clusterroles"
}

// AggregationSelectors are the label selectors of the cluster roles whose rules a cluster role
// takes over; none for a role with rules of its own.
func AggregationSelectors(role tree.Tree) []tree.Tree {
	return role.Object("aggregationRule").Objects("clusterRoleSelectors")
}
