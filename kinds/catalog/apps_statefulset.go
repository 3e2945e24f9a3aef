package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func statefulSetRules() schema.Rules {
	return schema.Rules{
		Default: defaultStatefulSet, Prepare: resetStatefulSetStatus,
		Validate: validateStatefulSet, ValidateUpdate: validateStatefulSetUpdate,
	}
}

func resetStatefulSetStatus(obj, old schema.Tree) {
	if old == nil {
		obj["status"] = schema.Tree{"replicas": int64(0), "availableReplicas": int64(0)}
	}
}

func defaultStatefulSet(obj schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	defaultTemplate(rules.EnsureNested(spec, "template"))
	strategy := rules.EnsureNested(spec, "updateStrategy")
	if rules.String(strategy, "type") == "" {
		strategy["type"] = "RollingUpdate"
		rules.EnsureNested(strategy, "rollingUpdate")
	}
	if rolling := rules.Nested(strategy, "rollingUpdate"); rolling != nil && strategy["type"] == "RollingUpdate" {
		setIfAbsent(rolling, "partition", int64(0))
		setIfAbsent(rolling, "maxUnavailable", int64(1))
	}
	retention := rules.EnsureNested(spec, "persistentVolumeClaimRetentionPolicy")
	setIfEmpty(retention, "whenDeleted", "Retain")
	setIfEmpty(retention, "whenScaled", "Retain")
	for _, claim := range rules.Trees(spec, "volumeClaimTemplates") {
		if claim != nil {
			claim["kind"], claim["apiVersion"] = "PersistentVolumeClaim", "v1"
			setIfEmpty(rules.EnsureNested(claim, "status"), "phase", "Pending")
		}
	}
}

func validateStatefulSet(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	if policy := rules.String(spec, "podManagementPolicy"); policy != "OrderedReady" && policy != "Parallel" {
		faults.Invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
	}
	validateStatefulSetStrategy(rules.Nested(spec, "updateStrategy"), faults)
	retention := rules.Nested(spec, "persistentVolumeClaimRetentionPolicy")
	for _, name := range []string{"whenDeleted", "whenScaled"} {
		validateOptionalEnum(retention, name, "spec.persistentVolumeClaimRetentionPolicy", faults, "Retain", "Delete")
	}
	validateNonNegative(spec, "spec", faults, "replicas", "minReadySeconds", "revisionHistoryLimit")
	validateNonNegative(rules.Nested(spec, "ordinals"), "spec.ordinals", faults, "start")
	validateFormat(spec, "serviceName", "spec", faults, rules.Label)
	var claims []string
	for _, claim := range rules.Trees(spec, "volumeClaimTemplates") {
		claims = append(claims, rules.String(rules.Nested(claim, "metadata"), "name"))
	}
	workload{kind: "StatefulSet", selectorKind: "statefulset"}.validate(spec, claims, faults)
	validateStatusCounts(obj, faults,
		[]string{"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount"},
		[]string{"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"})
}

func validateStatefulSetStrategy(strategy schema.Tree, faults *schema.Faults) {
	const path = "spec.updateStrategy"
	rolling := rules.Nested(strategy, "rollingUpdate")
	switch rules.String(strategy, "type") {
	case "OnDelete":
		if rolling != nil {
			faults.Invalid(path+".rollingUpdate", rolling, "only allowed for updateStrategy 'RollingUpdate'")
		}
	case "RollingUpdate":
		validateNonNegative(rolling, path+".rollingUpdate", faults, "partition")
		validateIntOrPercent(rolling, "maxUnavailable", path+".rollingUpdate", true, faults)
		if rules.Has(rolling, "maxUnavailable") && isZeroIntOrPercent(rolling["maxUnavailable"]) {
			faults.Invalid(path+".rollingUpdate.maxUnavailable", rolling["maxUnavailable"], "cannot be 0")
		}
	default:
		faults.Invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")
	}
}

const statefulSetImmutableMsg = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
	"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

// statefulSetMutableFields are the fields of the spec that may change.
var statefulSetMutableFields = []string{
	"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
}

func validateStatefulSetUpdate(obj, old schema.Tree, faults *schema.Faults) {
	was := rules.Nested(old, "spec")
	spec := schema.Tree{}
	for key, value := range rules.Nested(obj, "spec") {
		spec[key] = value
	}
	for _, name := range statefulSetMutableFields {
		rules.CopyField(spec, was, name)
	}
	if !rules.SemanticEqual(spec, was) {
		faults.Forbidden("spec", statefulSetImmutableMsg)
	}
}
