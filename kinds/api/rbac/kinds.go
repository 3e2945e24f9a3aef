package rbac

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies.
func Kinds(n *meta.Naming) []schema.Behavior {
	group := n.Group("rbac.authorization")
	return []schema.Behavior{
		{Name: "rbac.authorization.platform.io/v1/ClusterRole", Strategy: roleStrategy{}},
		{Name: "rbac.authorization.platform.io/v1/ClusterRoleBinding", Strategy: bindingStrategy{group: group}},
		{Name: "rbac.authorization.platform.io/v1/Role", Strategy: roleStrategy{}},
		{Name: "rbac.authorization.platform.io/v1/RoleBinding", Strategy: bindingStrategy{group: group}},
	}
}
