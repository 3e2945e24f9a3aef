package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func statefulSetRules() schema.Rules {
	return schema.Rules{
		Default: defaultStatefulSet, Prepare: startStateful,
		Validate: validateStatefulSet, ValidateUpdate: validateStatefulSetUpdate,
	}
}

func startStateful(obj, old schema.Tree) {
	if old == nil {
		obj["status"] = schema.Tree{"replicas": int64(0), "availableReplicas": int64(0)}
	}
}

func defaultStatefulSet(obj schema.Tree) {
	spec := rules.Grow(obj, "spec")
	defaultTemplate(rules.Grow(spec, "template"))
	strategy := rules.Grow(spec, "updateStrategy")
	if rules.Text(strategy, "type") == "" {
		strategy["type"] = "RollingUpdate"
		rules.Grow(strategy, "rollingUpdate")
	}
	if rolling := rules.Sub(strategy, "rollingUpdate"); rolling != nil && strategy["type"] == "RollingUpdate" {
		setAbsent(rolling, "partition", int64(0))
		setAbsent(rolling, "maxUnavailable", int64(1))
	}
	retention := rules.Grow(spec, "persistentVolumeClaimRetentionPolicy")
	setDefault(retention, "whenDeleted", "Retain")
	setDefault(retention, "whenScaled", "Retain")
	for _, claim := range rules.Trees(spec, "volumeClaimTemplates") {
		if claim != nil {
			claim["kind"], claim["apiVersion"] = "PersistentVolumeClaim", "v1"
			setDefault(rules.Grow(claim, "status"), "phase", "Pending")
		}
	}
}

func validateStatefulSet(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Sub(obj, "spec")
	if policy := rules.Text(spec, "podManagementPolicy"); policy != "OrderedReady" && policy != "Parallel" {
		faults.Invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
	}
	validateStatefulStrategy(rules.Sub(spec, "updateStrategy"), faults)
	retention := rules.Sub(spec, "persistentVolumeClaimRetentionPolicy")
	for _, name := range []string{"whenDeleted", "whenScaled"} {
		optionalChoice(retention, name, "spec.persistentVolumeClaimRetentionPolicy", faults, "Retain", "Delete")
	}
	notNegative(spec, "spec", faults, "replicas", "minReadySeconds", "revisionHistoryLimit")
	notNegative(rules.Sub(spec, "ordinals"), "spec.ordinals", faults, "start")
	formatted(spec, "serviceName", "spec", faults, rules.Label)
	var claims []string
	for _, claim := range rules.Trees(spec, "volumeClaimTemplates") {
		claims = append(claims, rules.Text(rules.Sub(claim, "metadata"), "name"))
	}
	workload{kind: "StatefulSet", lower: "statefulset"}.validate(spec, claims, faults)
	validateCounts(obj, faults,
		[]string{"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount"},
		[]string{"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"})
}

func validateStatefulStrategy(strategy schema.Tree, faults *schema.Faults) {
	const path = "spec.updateStrategy"
	rolling := rules.Sub(strategy, "rollingUpdate")
	switch rules.Text(strategy, "type") {
	case "OnDelete":
		if rolling != nil {
			faults.Invalid(path+".rollingUpdate", rolling, "only allowed for updateStrategy 'RollingUpdate'")
		}
	case "RollingUpdate":
		notNegative(rolling, path+".rollingUpdate", faults, "partition")
		validateShare(rolling, "maxUnavailable", path+".rollingUpdate", true, faults)
		if rules.Has(rolling, "maxUnavailable") && noShare(rolling["maxUnavailable"]) {
			faults.Invalid(path+".rollingUpdate.maxUnavailable", rolling["maxUnavailable"], "cannot be 0")
		}
	default:
		faults.Invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")
	}
}

const statefulFrozen = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
	"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

// statefulOpen are the fields of the spec that may change.
var statefulOpen = []string{
	"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
}

func validateStatefulSetUpdate(obj, old schema.Tree, faults *schema.Faults) {
	was := rules.Sub(old, "spec")
	spec := schema.Tree{}
	for key, value := range rules.Sub(obj, "spec") {
		spec[key] = value
	}
	for _, name := range statefulOpen {
		rules.Carry(spec, was, name)
	}
	if !rules.Equal(spec, was) {
		faults.Forbidden("spec", statefulFrozen)
	}
}
