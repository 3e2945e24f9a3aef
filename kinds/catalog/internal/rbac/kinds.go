package rbac

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of rbac with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "rbac.authorization.platform.io/v1/ClusterRole", Rules: clusterRoleRules()},
		{Name: "rbac.authorization.platform.io/v1/ClusterRoleBinding", Rules: clusterRoleBindingRules(n)},
		{Name: "rbac.authorization.platform.io/v1/Role", Rules: roleRules()},
		{Name: "rbac.authorization.platform.io/v1/RoleBinding", Rules: roleBindingRules(n)},
	}
}
