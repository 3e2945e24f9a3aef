package core

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about addresses in Endpoints, except for those that the endpoints controller marks
// with its label as copies of Pod addresses: the controller could not correct them.
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
