package client

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// subjectFlags are the subjects of a role binding.
type subjectFlags struct{ User, Group, ServiceAccount []string }

// binding returns a role binding for the subjects.
func (b *subjectFlags) binding(g *generated, kind, name string) (tree.Tree, error) {
	group := g.catalog.Naming.Group("rbac.authorization")
	subjects := []any{}
	for _, u := range b.User {
		subjects = append(subjects, tree.Tree{"kind": "User", "apiGroup": group, "name": u})
	}
	for _, u := range b.Group {
		subjects = append(subjects, tree.Tree{"kind": "Group", "apiGroup": group, "name": u})
	}
	for _, a := range b.ServiceAccount {
		namespace, name, ok := strings.Cut(a, ":")
		if !ok || namespace == "" || name == "" {
			return nil, usageError("serviceaccount must be <namespace>:<name>")
		}
		subjects = append(subjects, tree.Tree{"kind": "ServiceAccount", "namespace": namespace, "name": name})
	}
	return tree.Tree{"roleRef": tree.Tree{"apiGroup": group, "kind": kind, "name": name}, "subjects": subjects}, nil
}

type roleBinding struct {
	subjectFlags
	Role, ClusterRole string
}

func (b *roleBinding) build(g *generated) (tree.Tree, error) {
	switch {
	case (b.Role == "") == (b.ClusterRole == ""):
		return nil, usageError("exactly one of clusterrole or role must be specified")
	case b.Role != "":
		return b.binding(g, "Role", b.Role)
	}
	return b.binding(g, "ClusterRole", b.ClusterRole)
}

type clusterRoleBinding struct {
	subjectFlags
	ClusterRole string
}

func (b *clusterRoleBinding) build(g *generated) (tree.Tree, error) {
	if b.ClusterRole == "" {
		return nil, usageError("clusterrole must be specified")
	}
	return b.binding(g, "ClusterRole", b.ClusterRole)
}
