package networking

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of networking with their strategies.
func Kinds(n *meta.Naming) []family.Kind {
	addresses := warning.NewAddresses(n)
	return []family.Kind{
		{Name: "networking.platform.io/v1/IPAddress", Strategy: ipAddressStrategy{}},
		{Name: "networking.platform.io/v1/Ingress", Strategy: ingressStrategy{class: n.Translate("platform.io/ingress.class")}, Views: family.Views{
			"status": {Warn: warning.LoadBalancerStatus(addresses)},
		}},
		{Name: "networking.platform.io/v1/IngressClass", Strategy: ingressClassStrategy{}},
		{Name: "networking.platform.io/v1/NetworkPolicy", Strategy: networkPolicyStrategy{addresses: addresses}},
		{Name: "networking.platform.io/v1/ServiceCIDR", Strategy: serviceCIDRStrategy{}},
	}
}
