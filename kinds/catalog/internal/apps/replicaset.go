package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func replicaSetRules() schema.Rules {
	return schema.Rules{
		Default: func(obj tree.Tree) { pod.DefaultTemplate(obj.EnsureObject("spec", "template")) },
		Prepare: ResetReplicaSetStatus, Validate: validateReplicaSet, ValidateUpdate: validateImmutableSelector,
	}
}

// ResetReplicaSetStatus gives a new object a status of zero replicas.
func ResetReplicaSetStatus(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"replicas": int64(0)}
	}
}

func validateReplicaSet(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	field.NonNegative(spec, "spec", faults, "replicas", "minReadySeconds")
	workload{kind: "ReplicaSet", selectorKind: "deployment"}.validate(spec, nil, faults)
	ValidateReplicaCounts(obj, faults)
}

// ValidateReplicaCounts checks the status of a ReplicaSet or a ReplicationController.
func ValidateReplicaCounts(obj tree.Tree, faults *schema.Faults) {
	validateStatusCounts(obj, faults,
		[]string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
		[]string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"})
}
