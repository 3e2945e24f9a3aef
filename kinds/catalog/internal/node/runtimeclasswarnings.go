package node

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// runtimeClassWarnings warns of deprecated labels of nodes. The texts do not name the label.
//
// The selector is copied into every Pod of the class, so a label that is going to disappear would one day leave them
// without nodes.
func runtimeClassWarnings(n *meta.Naming) family.WarnFunc {
	labels := warning.NewNodeLabels(n)
	return func(obj, _ tree.Tree) []string {
		return labels.AppendKeys(nil, obj.Object("scheduling", "nodeSelector"), func(string) string { return "scheduling.nodeSelector" })
	}
}
