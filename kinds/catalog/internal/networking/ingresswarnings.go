package networking

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ingressWarnings warns of a new Ingress that names its class in the deprecated annotation.
//
// Only a create is warned: the author of an update is often a controller that cannot change it.
func ingressWarnings(n *meta.Naming) family.WarnFunc {
	class := n.Translate("platform.io/ingress.class")
	text := fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", class)
	return func(obj, old tree.Tree) []string {
		if _, given := obj.Object("metadata", "annotations")[class]; old != nil || !given || obj.Object("spec").Has("ingressClassName") {
			return nil
		}
		return []string{text}
	}
}
