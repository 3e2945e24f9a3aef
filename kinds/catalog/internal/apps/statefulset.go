package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type statefulSetStrategy struct {
	pod.TemplateStrategy
	spec *schema.Message
}

func (statefulSetStrategy) WarnsOnNoOp() bool { return true }

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
