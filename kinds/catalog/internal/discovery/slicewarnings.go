package discovery

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// sliceWarnings warns of a new slice of names, and of addresses, unless they are a controller's copy of what is
// elsewhere.
//
// Controllers copy what users have written and cannot act on a warning; the author of the original has been warned.
func sliceWarnings(n *meta.Naming) family.WarnFunc {
	addresses, managedBy := warning.NewAddresses(n), n.Translate("endpointslice.platform.io/managed-by")
	controller, mirror := n.Group("endpointslice-controller"), n.Group("endpointslicemirroring-controller")
	return func(obj, old tree.Tree) (texts []string) {
		if old == nil && obj.String("addressType") == "FQDN" {
			texts = append(texts, "spec.addressType: FQDN endpoints are deprecated")
		}
		if by := obj.Object("metadata", "labels").String(managedBy); by == controller || by == mirror {
			return texts
		}
		for i, v := range obj.List("endpoints") {
			endpoint, _ := v.(tree.Tree)
			for j, v := range endpoint.List("addresses") {
				address, _ := v.(string)
				if text := addresses.IP(address); text != "" {
					texts = append(texts, tree.IndexPath(tree.IndexPath("endpoints", i)+".addresses", j)+text)
				}
			}
		}
		return texts
	}
}
