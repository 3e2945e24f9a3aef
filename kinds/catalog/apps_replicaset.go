package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func replicaSetRules() schema.Rules {
	return schema.Rules{
		Default: func(obj schema.Tree) { defaultTemplate(rules.Grow(obj, "spec", "template")) },
		Prepare: startSized, Validate: validateReplicaSet, ValidateUpdate: keepSelector,
	}
}

// startSized begins without Pods.
func startSized(obj, old schema.Tree) {
	if old == nil {
		obj["status"] = schema.Tree{"replicas": int64(0)}
	}
}

func validateReplicaSet(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Sub(obj, "spec")
	notNegative(spec, "spec", faults, "replicas", "minReadySeconds")
	workload{kind: "ReplicaSet", lower: "deployment"}.validate(spec, nil, faults)
	validateReplicaCounts(obj, faults)
}

// validateReplicaCounts checks the status of what keeps a number of equal Pods.
func validateReplicaCounts(obj schema.Tree, faults *schema.Faults) {
	validateCounts(obj, faults,
		[]string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration", "terminatingReplicas"},
		[]string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"})
}
