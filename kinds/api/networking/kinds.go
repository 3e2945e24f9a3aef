package networking

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of networking with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "networking.platform.io/v1/Ingress", Strategy: ingressStrategy{}},
		{Name: "networking.platform.io/v1/NetworkPolicy", Strategy: networkPolicyStrategy{}},
		{Name: "networking.platform.io/v1/ServiceCIDR", Strategy: serviceCIDRStrategy{}},
	}
}

// RuleFunctions maps the function names in declared rules to functions.
var RuleFunctions = map[string]schema.CheckFunc{"ipBlock": schema.ObjectCheck(validateIPBlock)}
