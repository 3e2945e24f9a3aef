package networking

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of networking with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "networking.platform.io/v1/IPAddress", Rules: family.Unenforced(ipAddressRules(), "addresses are not taken by it")},
		{Name: "networking.platform.io/v1/Ingress", Rules: ingressRules(n)},
		{Name: "networking.platform.io/v1/IngressClass", Rules: ingressClassRules()},
		{Name: "networking.platform.io/v1/NetworkPolicy", Rules: networkPolicyRules()},
		{Name: "networking.platform.io/v1/ServiceCIDR", Rules: family.Unenforced(serviceCIDRRules(), "no address is handed out from its ranges")},
	}
}
