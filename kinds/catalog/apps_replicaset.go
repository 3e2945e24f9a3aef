package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func replicaSetRules() schema.Rules {
	return schema.Rules{
		Default: func(obj schema.Tree) { defaultTemplate(rules.EnsureNested(obj, "spec", "template")) },
		Prepare: resetReplicaSetStatus, Validate: validateReplicaSet, ValidateUpdate: validateImmutableSelector,
	}
}

// resetReplicaSetStatus begins without Pods.
func resetReplicaSetStatus(obj, old schema.Tree) {
	if old == nil {
		obj["status"] = schema.Tree{"replicas": int64(0)}
	}
}

func validateReplicaSet(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	validateNonNegative(spec, "spec", faults, "replicas", "minReadySeconds")
	workload{kind: "ReplicaSet", selectorKind: "deployment"}.validate(spec, nil, faults)
	validateReplicaCounts(obj, faults)
}

// validateReplicaCounts checks the status of what keeps a number of equal Pods.
func validateReplicaCounts(obj schema.Tree, faults *schema.Faults) {
	validateStatusCounts(obj, faults,
		[]string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
		[]string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"})
}
