package networking

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "networking.platform.io/v1/Ingress", Strategy: ingressStrategy{}},
		{Name: "networking.platform.io/v1/NetworkPolicy", Strategy: networkPolicyStrategy{}},
		{Name: "networking.platform.io/v1/ServiceCIDR", Strategy: schema.EmptyStatusOnCreate{}},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{"ipBlock": schema.ObjectCheck(validateIPBlock)}
