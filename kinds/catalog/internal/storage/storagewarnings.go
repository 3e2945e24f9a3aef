package storage

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/tree"
)

// tokensInSecrets warns of tokens that may end up in logs. It is made once, as the text is always the same.
var tokensInSecrets = []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"}

// Warnings warns of new or changed requests for tokens. A driver says true or false by the field,
// so both count as an answer.
func (csiDriverStrategy) Warnings(obj, old tree.Tree) []string {
	spec := obj.Object("spec")
	if len(spec.List("tokenRequests")) == 0 || spec.Has("serviceAccountTokenInSecrets") ||
		old != nil && tree.SemanticEqual(spec["tokenRequests"], old.Object("spec")["tokenRequests"]) {
		return nil
	}
	return tokensInSecrets
}

// Warnings warns of deprecated labels of nodes in a CSIStorageCapacity.
func (s csiStorageCapacityStrategy) Warnings(obj, _ tree.Tree) []string {
	return s.labels.AppendSelector(nil, obj.Object("nodeTopology"), "nodeTopology")
}

// Warnings warns of deprecated labels of nodes in the topologies of a StorageClass. The texts do
// not name the label.
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
