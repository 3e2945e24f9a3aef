package storage

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about deprecated node labels in a CSIStorageCapacity.
func (s csiStorageCapacityStrategy) Warnings(obj, _ tree.Tree) []string {
	return s.labels.AppendSelector(nil, obj.Object("nodeTopology"), "nodeTopology")
}

// Warnings warns about deprecated node labels in the topologies of a StorageClass. The texts do not
// name the label.
func (s storageClassStrategy) Warnings(obj, _ tree.Tree) (texts []string) {
	for i, v := range obj.List("allowedTopologies") {
		topology, _ := v.(tree.Tree)
		for j, v := range topology.List("matchLabelExpressions") {
			expression, _ := v.(tree.Tree)
			if text := s.labels[expression.String("key")]; text != "" {
				texts = append(texts, fmt.Sprintf("allowedTopologies[%d].matchLabelExpressions[%d].key: %s", i, j, text))
			}
		}
	}
	return texts
}
