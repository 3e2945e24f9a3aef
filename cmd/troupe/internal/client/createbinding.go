package client

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

// subjectFlags are the subjects of a role binding.
type subjectFlags struct{ users, groups, accounts []string }

func (b *subjectFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&b.users, "user", nil, "User to bind; may be repeated.")
	f.StringSliceVar(&b.groups, "group", nil, "Group to bind; may be repeated.")
	f.StringSliceVar(&b.accounts, "serviceaccount", nil, "Service account to bind, as namespace:name; may be repeated.")
}

// binding returns a role binding for the subjects.
func (b *subjectFlags) binding(g *generated, kind, name string) (tree.Tree, error) {
	group := g.catalog.Naming.Group("rbac.authorization")
	subjects := []any{}
	for _, u := range b.users {
		subjects = append(subjects, tree.Tree{"kind": "User", "apiGroup": group, "name": u})
	}
	for _, u := range b.groups {
		subjects = append(subjects, tree.Tree{"kind": "Group", "apiGroup": group, "name": u})
	}
	for _, a := range b.accounts {
		namespace, name, ok := strings.Cut(a, ":")
		if !ok || namespace == "" || name == "" {
			return nil, usageError("serviceaccount must be <namespace>:<name>")
		}
		subjects = append(subjects, tree.Tree{"kind": "ServiceAccount", "namespace": namespace, "name": name})
	}
	return tree.Tree{"roleRef": tree.Tree{"apiGroup": group, "kind": kind, "name": name}, "subjects": subjects}, nil
}

func roleBinding(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	b := &subjectFlags{}
	b.add(f)
	role, cluster := f.String("role", "", "Role to bind."), f.String("clusterrole", "", "Cluster role to bind in the namespace.")
	return func(g *generated) (tree.Tree, error) {
		switch {
		case (*role == "") == (*cluster == ""):
			return nil, usageError("exactly one of clusterrole or role must be specified")
		case *role != "":
			return b.binding(g, "Role", *role)
		}
		return b.binding(g, "ClusterRole", *cluster)
	}
}

func clusterRoleBinding(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	b := &subjectFlags{}
	b.add(f)
	cluster := f.String("clusterrole", "", "Cluster role to bind.")
	return func(g *generated) (tree.Tree, error) {
		if *cluster == "" {
			return nil, usageError("clusterrole must be specified")
		}
		return b.binding(g, "ClusterRole", *cluster)
	}
}
