package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/volume"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type statefulSetStrategy struct {
	pod.TemplateStrategy
	spec *schema.Message
}

func (s statefulSetStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	if old == nil { // they cannot change, and may be from before they were checked
		spec := obj.Object("spec")
		field.Format(spec, "serviceName", "spec", faults, rules.Label)
		validateClaimTemplates(spec, faults)
	}
	s.TemplateStrategy.ValidateServed(obj, old, faults)
}

func (statefulSetStrategy) WarnsOnNoOp() bool { return true }

// validateClaimTemplates checks the claims of a new set, and that Pods can have volumes of their names. What is wrong with
// a name is told of the volume that the controller makes of it.
func validateClaimTemplates(spec tree.Tree, faults *schema.Faults) {
	for i, claim := range spec.Objects("volumeClaimTemplates") {
		at, name := tree.IndexPath("spec.template.spec.volumes", i), claim.Object("metadata").String("name")
		if name == "" {
			faults.Required(at + ".name")
			faults.Required(at + ".persistentVolumeClaim.claimName")
		} else {
			for _, msg := range rules.Label(name) {
				faults.Invalid(at+".name", name, msg)
			}
		}
		volume.ValidateClaimSpec(claim.Object("spec"), tree.IndexPath("spec.volumeClaimTemplates", i)+".spec", faults)
	}
}

// Prepare writes both zeros, because clients print them.
func (statefulSetStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"replicas": int64(0), "availableReplicas": int64(0)}
	}
}

// The claims of a template get kind, version and phase, as they are whole objects inside another one and read the
// same as those that are made of them. Claims are kept by default: data must not go with a number.
func (statefulSetStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	strategy := spec.EnsureObject("updateStrategy")
	if strategy.String("type") == "" {
		strategy["type"] = "RollingUpdate"
		strategy.EnsureObject("rollingUpdate")
	}
	if rolling := strategy.Object("rollingUpdate"); rolling != nil && strategy["type"] == "RollingUpdate" {
		field.SetIfAbsent(rolling, "partition", int64(0))
		field.SetIfAbsent(rolling, "maxUnavailable", int64(1))
	}
	retention := spec.EnsureObject("persistentVolumeClaimRetentionPolicy")
	field.SetIfEmpty(retention, "whenDeleted", "Retain")
	field.SetIfEmpty(retention, "whenScaled", "Retain")
	for _, claim := range spec.Objects("volumeClaimTemplates") {
		if claim != nil {
			if claim.String("kind") != "PersistentVolumeClaim" || claim.String("apiVersion") != "v1" {
				claim["kind"], claim["apiVersion"] = "PersistentVolumeClaim", "v1"
			}
			field.SetIfEmpty(claim.EnsureObject("status"), "phase", "Pending")
		}
	}
}

// The names of the claims are handed on, because volumes of the template may refer to them although no such volume is
// declared there.
func (statefulSetStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if policy := spec.String("podManagementPolicy"); policy != "OrderedReady" && policy != "Parallel" {
		faults.Invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
	}
	validateStatefulSetStrategy(spec.Object("updateStrategy"), faults)
	var claims []string
	for _, claim := range spec.Objects("volumeClaimTemplates") {
		claims = append(claims, claim.Object("metadata").String("name"))
	}
	workload{kind: "StatefulSet", selectorKind: "statefulset", namesPods: true}.validate(spec, claims, faults)
	validateStatusCounts(obj, faults, "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
}

func validateStatefulSetStrategy(strategy tree.Tree, faults *schema.Faults) {
	const path = "spec.updateStrategy"
	rolling := strategy.Object("rollingUpdate")
	switch strategy.String("type") {
	case "OnDelete":
		if rolling != nil {
			faults.Invalid(path+".rollingUpdate", rolling, "only allowed for updateStrategy 'RollingUpdate'")
		}
	case "RollingUpdate":
		field.NonNegative(rolling, path+".rollingUpdate", faults, "partition")
		field.IntOrPercent(rolling, "maxUnavailable", path+".rollingUpdate", true, faults)
		if rolling.Has("maxUnavailable") && field.IsZero(rolling["maxUnavailable"]) {
			faults.Invalid(path+".rollingUpdate.maxUnavailable", rolling["maxUnavailable"], "cannot be 0")
		}
	default:
		faults.Invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")
	}
}

// statefulSetImmutableMsg names the fields that may change, to the letter as users know it.
const statefulSetImmutableMsg = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
	"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

// statefulSetMutableFields are the fields of the spec that may change.
var statefulSetMutableFields = []string{
	"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
}

// What identifies the Pods and their claims cannot change: the controller could not carry it over to those that
// exist. The comparison leaves out what may change, so that a field that is added to the kind later is immutable
// until somebody decides otherwise.
func (s statefulSetStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	was := old.Object("spec")
	spec := tree.Tree{}
	for key, value := range obj.Object("spec") {
		spec[key] = value
	}
	for _, name := range statefulSetMutableFields {
		spec.CopyField(was, name)
	}
	if !s.spec.Same(spec, was) {
		faults.Forbidden("spec", statefulSetImmutableMsg+s.spec.Changes(was, spec, "spec"))
	}
}
