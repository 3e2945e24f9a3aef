package node

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns of deprecated labels of nodes. The texts do not name the label.
//
// The selector is copied into every Pod of the class, so a label that is going to disappear would one day leave them
// without nodes.
func (s runtimeClassStrategy) Warnings(obj, _ tree.Tree) []string {
	return s.labels.AppendKeys(nil, obj.Object("scheduling", "nodeSelector"), func(string) string { return "scheduling.nodeSelector" })
}
