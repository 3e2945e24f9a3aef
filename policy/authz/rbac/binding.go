package rbac

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

type subject struct {
	group bool
	name  string
}

// A binding grants a role to subjects in a namespace, or cluster-wide if namespace is empty. It
// refers to the role by name, because the role may be created or changed later.
type binding struct {
	name, namespace string
	role            namespacedName
	grants          []*grant
}

// A grant is the part of a binding that concerns one subject. It is immutable once indexed.
type grant struct {
	*binding
	subject subject
	entry   *roleEntry
	// reason explains the decision when this grant allows a request.
	reason string
}

// newBinding decodes a binding. The index later sets the role entries of the grants. It clones
// strings, because a substring would retain the whole object. Duplicate subjects become one grant.
func newBinding(o *policy.Object) *binding {
	b := &binding{name: o.Key.Name, namespace: o.Key.Namespace}
	ref, ok := readRoleRef(o.Tree, b.namespace)
	b.role = namespacedName{ref.namespace, strings.Clone(ref.name)}
	if !ok {
		return b
	}
	how := fmt.Sprintf("RBAC: allowed by ClusterRoleBinding %q of %s %q to ", b.name, ref.kind, ref.name)
	if b.namespace != "" {
		how = fmt.Sprintf("RBAC: allowed by RoleBinding %q of %s %q to ", b.name+"/"+b.namespace, ref.kind, ref.name)
	}
	given := map[subject]bool{}
	for _, t := range o.Tree.Objects("subjects") {
		kind, name := t.String("kind"), strings.Clone(t.String("name"))
		g := &grant{binding: b, subject: subject{kind == "Group", name}, reason: how + fmt.Sprintf("%s %q", kind, name)}
		if kind == "ServiceAccount" {
			namespace := cmp.Or(t.String("namespace"), b.namespace)
			if namespace == "" {
				continue // a service account without a namespace is not a user
			}
			g.subject.name = serviceaccount.Account{Namespace: namespace, Name: name}.Username()
			g.reason = how + fmt.Sprintf("%s %q", kind, name+"/"+namespace)
		}
		if !given[g.subject] {
			given[g.subject] = true
			b.grants = append(b.grants, g)
		}
	}
	return b
}

// A namespacedName identifies a role or binding. If namespace is empty, it is a ClusterRole or
// ClusterRoleBinding, otherwise a Role or RoleBinding.
type namespacedName struct{ namespace, name string }
