package node

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about deprecated node labels: every Pod of the class gets the selector. Unlike
// others, the texts do not name the label.
func (s runtimeClassStrategy) Warnings(obj, _ tree.Tree) []string {
	return s.labels.AppendKeys(nil, obj.Object("scheduling", "nodeSelector"), func(string) string { return "scheduling.nodeSelector" })
}
