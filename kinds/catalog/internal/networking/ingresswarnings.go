package networking

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns of a new Ingress that names its class in the deprecated annotation.
//
// Only a create is warned: the author of an update is often a controller that cannot change it.
func (s ingressStrategy) Warnings(obj, old tree.Tree) []string {
	if _, given := obj.Object("metadata", "annotations")[s.class]; old != nil || !given || obj.Object("spec").Has("ingressClassName") {
		return nil
	}
	return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", s.class)}
}
