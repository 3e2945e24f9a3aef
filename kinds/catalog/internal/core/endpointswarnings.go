package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// endpointsWarnings warns of the addresses in Endpoints, unless these are a controller's copy of what is
// elsewhere. The endpoints controller marks its copies with the label. It repeats the addresses of Pods, so
// a warning to the controller would reach nobody who could correct them.
func endpointsWarnings(n *meta.Naming) family.WarnFunc {
	addresses, managedBy := warning.NewAddresses(n), n.Translate("endpoints.platform.io/managed-by")
	return func(obj, _ tree.Tree) (texts []string) {
		if obj.Object("metadata", "labels").String(managedBy) == "endpoint-controller" {
			return nil
		}
		for i, v := range obj.List("subsets") {
			subset, _ := v.(tree.Tree)
			for _, list := range [...]string{"addresses", "notReadyAddresses"} {
				for j, v := range subset.List(list) {
					address, _ := v.(tree.Tree)
					if text := addresses.IP(address.String("ip")); text != "" {
						texts = append(texts, tree.IndexPath(tree.IndexPath("subsets", i)+"."+list, j)+".ip"+text)
					}
				}
			}
		}
		return texts
	}
}
