package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// nodeWarnings warns of fields that nothing reads any more, and of unusual ranges. These are warnings
// because nodes stored long ago still have the fields, and their kubelets must be able to write them back.
func nodeWarnings(n *meta.Naming) family.WarnFunc {
	addresses := warning.NewAddresses(n)
	unused := "spec.externalID: this field is deprecated, and is unused by " + n.Product()
	return func(obj, _ tree.Tree) (texts []string) {
		spec := obj.Object("spec")
		if spec.Has("configSource") {
			texts = append(texts, "spec.configSource: the feature is removed")
		}
		if spec.String("externalID") != "" {
			texts = append(texts, unused)
		}
		return addresses.AppendCIDRs(texts, spec.List("podCIDRs"), warning.At("", "spec.podCIDRs"))
	}
}
