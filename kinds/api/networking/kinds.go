package networking

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of networking with their strategies.
func Kinds(n *meta.Naming) []schema.Behavior {
	addresses := warning.NewAddresses(n)
	return []schema.Behavior{
		{Name: "networking.platform.io/v1/Ingress", Strategy: ingressStrategy{}, Views: schema.Views{
			"status": {Warn: warning.LoadBalancerStatus(addresses)},
		}},
		{Name: "networking.platform.io/v1/NetworkPolicy", Strategy: networkPolicyStrategy{addresses: addresses}},
		{Name: "networking.platform.io/v1/ServiceCIDR", Strategy: serviceCIDRStrategy{}},
	}
}

// RuleFunctions are the functions that declared rules call.
var RuleFunctions = map[string]schema.CheckFunc{"ipBlock": schema.ObjectCheck(validateIPBlock)}
