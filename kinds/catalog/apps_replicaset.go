package catalog

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func replicaSetRules() schema.Rules {
	return schema.Rules{
		Default: func(obj tree.Tree) { defaultTemplate(obj.EnsureObject("spec", "template")) },
		Prepare: resetReplicaSetStatus, Validate: validateReplicaSet, ValidateUpdate: validateImmutableSelector,
	}
}

// resetReplicaSetStatus begins without Pods.
func resetReplicaSetStatus(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"replicas": int64(0)}
	}
}

func validateReplicaSet(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validateNonNegative(spec, "spec", faults, "replicas", "minReadySeconds")
	workload{kind: "ReplicaSet", selectorKind: "deployment"}.validate(spec, nil, faults)
	validateReplicaCounts(obj, faults)
}

// validateReplicaCounts checks the status of what keeps a number of equal Pods.
func validateReplicaCounts(obj tree.Tree, faults *schema.Faults) {
	validateStatusCounts(obj, faults,
		[]string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
		[]string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"})
}
