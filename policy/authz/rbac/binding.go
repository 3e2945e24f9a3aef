package rbac

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// A subject is a user or a group.
type subject struct {
	group bool
	name  string
}

// A binding gives a role to subjects, in a namespace or, with "", everywhere.
//
// The role is kept by name, since it may come after the binding and may change without it.
type binding struct {
	name, namespace string
	role            namespacedName
	grants          []*grant
}

// A grant is what a binding gives to one subject. It is immutable.
type grant struct {
	*binding
	subject subject
	entry   *roleEntry
	// reason is why a request is allowed by it.
	reason string
}

// newBinding reads a binding. It keeps nothing of the object alive. The cells of its grants
// are still to be set.
//
// Strings are cloned, as those of the tree are parts of the text of the whole object: one name would keep all of it
// in memory for as long as the binding is known. A subject that is listed twice is one grant, so that removing a
// binding removes what it added, no more.
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
			namespace := t.String("namespace")
			if namespace == "" {
				namespace = b.namespace
			}
			if namespace == "" {
				continue // a service account without a namespace is no user
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

// A namespacedName identifies a role or a binding; those of the whole cluster have the namespace "".
//
// It is not a meta.Key, because roles and cluster roles differ here by their namespace alone.
type namespacedName struct{ namespace, name string }

func namespacedNameOf(k meta.Key) namespacedName { return namespacedName{k.Namespace, k.Name} }
