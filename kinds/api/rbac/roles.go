package rbac

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// roleStrategy is the strategy of Roles and ClusterRoles. Admission (policy/authz/rbac) checks
// whether the author may grant the permissions.
type roleStrategy struct {
	schema.DefaultStrategy
	dropEmptyRules
}

// dropEmptyRules removes an empty list of rules, so that all roles without rules are equal.
type dropEmptyRules struct{}

func (dropEmptyRules) Prepare(obj, _ tree.Tree) {
	if len(obj.List("rules")) == 0 {
		delete(obj, "rules")
	}
}

// A bindingStrategy is the strategy of RoleBindings and ClusterRoleBindings. A RoleBinding refers
// to a Role in its namespace or to a ClusterRole, and a ClusterRoleBinding only to a ClusterRole.
type bindingStrategy struct {
	schema.DefaultStrategy
	group string // API group of users and groups
}

// Default sets the API group of users and groups. Service accounts belong to the core group.
func (c bindingStrategy) Default(obj tree.Tree) {
	for _, s := range obj.Objects("subjects") {
		if kind := s.String("kind"); (kind == "User" || kind == "Group") && s.String("apiGroup") == "" {
			s["apiGroup"] = c.group
		}
	}
}
