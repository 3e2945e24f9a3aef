package rbac

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of rbac with their strategies.
func Kinds(n *meta.Naming) []family.Kind {
	group := n.Group("rbac.authorization")
	return []family.Kind{
		{Name: "rbac.authorization.platform.io/v1/ClusterRole", Strategy: roleStrategy{}},
		{Name: "rbac.authorization.platform.io/v1/ClusterRoleBinding", Strategy: bindingStrategy{group: group}},
		{Name: "rbac.authorization.platform.io/v1/Role", Strategy: roleStrategy{}},
		{Name: "rbac.authorization.platform.io/v1/RoleBinding", Strategy: bindingStrategy{group: group}},
	}
}
