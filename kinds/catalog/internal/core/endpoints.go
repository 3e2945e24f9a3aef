package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// endpointsStrategy has nothing about addresses: their format is declared.
type endpointsStrategy struct {
	family.AlwaysWarns
	addresses warning.Addresses
	managedBy string // the label
}

// Validate asks for the names of ports where a subset has several. A Service refers to the ports by
// name as soon as it has two, and without a name a proxy could not tell which one is meant. A
// single port may stay nameless, and then matches the Service's only port.
func (endpointsStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	for i, s := range obj.Objects("subsets") {
		ports := s.Objects("ports")
		for j, p := range ports {
			if len(ports) > 1 && p.String("name") == "" {
				faults.Required(tree.IndexPath(tree.IndexPath("subsets", i)+".ports", j) + ".name")
			}
		}
	}
}
