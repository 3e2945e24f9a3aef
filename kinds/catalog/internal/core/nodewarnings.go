package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns of fields that nothing reads any more, and of unusual ranges. These are warnings
// because nodes stored long ago still have the fields, and their kubelets must be able to write
// them back.
func (s nodeStrategy) Warnings(obj, _ tree.Tree) (texts []string) {
	spec := obj.Object("spec")
	if spec.Has("configSource") {
		texts = append(texts, "spec.configSource: the feature is removed")
	}
	if spec.String("externalID") != "" {
		texts = append(texts, s.unused)
	}
	return s.addresses.AppendCIDRs(texts, spec.List("podCIDRs"), warning.At("", "spec.podCIDRs"))
}
