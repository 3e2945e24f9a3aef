package discovery

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about new FQDN slices, and about addresses unless a controller copied them: it
// cannot act on a warning, and the author of the original got one.
func (s endpointSliceStrategy) Warnings(obj, old tree.Tree) (texts []string) {
	if old == nil && obj.String("addressType") == "FQDN" {
		texts = append(texts, "spec.addressType: FQDN endpoints are deprecated")
	}
	if by := obj.Object("metadata", "labels").String(s.managedBy); by == s.controller || by == s.mirror {
		return texts
	}
	for i, v := range obj.List("endpoints") {
		endpoint, _ := v.(tree.Tree)
		for j, v := range endpoint.List("addresses") {
			address, _ := v.(string)
			if text := s.addresses.IP(address); text != "" {
				texts = append(texts, tree.IndexPath(tree.IndexPath("endpoints", i)+".addresses", j)+text)
			}
		}
	}
	return texts
}
