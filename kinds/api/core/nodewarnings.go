package core

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about fields without effect and unusual ranges. Old nodes still have such fields,
// and their kubelets must be able to write them back.
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
