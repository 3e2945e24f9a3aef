package core

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns of the addresses in Endpoints, unless these are a controller's copy of what is
// elsewhere. The endpoints controller marks its copies with the label. It repeats the addresses of
// Pods, so a warning to the controller would reach nobody who could correct them.
func (s endpointsStrategy) Warnings(obj, _ tree.Tree) (texts []string) {
	if obj.Object("metadata", "labels").String(s.managedBy) == "endpoint-controller" {
		return nil
	}
	for i, v := range obj.List("subsets") {
		subset, _ := v.(tree.Tree)
		for _, list := range [...]string{"addresses", "notReadyAddresses"} {
			for j, v := range subset.List(list) {
				address, _ := v.(tree.Tree)
				if text := s.addresses.IP(address.String("ip")); text != "" {
					texts = append(texts, tree.IndexPath(tree.IndexPath("subsets", i)+"."+list, j)+".ip"+text)
				}
			}
		}
	}
	return texts
}
