package networking

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of networking with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	addresses := warning.NewAddresses(n)
	return []family.Kind{
		{Name: "networking.platform.io/v1/IPAddress", Rules: ipAddressRules()},
		{Name: "networking.platform.io/v1/Ingress", Rules: family.WarnChanges(ingressRules(n), ingressWarnings(n)), Views: family.Views{
			"status": {Warn: warning.LoadBalancerStatus(addresses)},
		}},
		{Name: "networking.platform.io/v1/IngressClass", Rules: ingressClassRules()},
		{Name: "networking.platform.io/v1/NetworkPolicy", Rules: family.Warn(networkPolicyRules(), policyWarnings(addresses))},
		{Name: "networking.platform.io/v1/ServiceCIDR", Rules: serviceCIDRRules()},
	}
}
