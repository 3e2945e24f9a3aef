package apps

import (
	"maps"
	"strconv"

	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// daemonSetStrategy has no ValidateUpdate: that the selector cannot change is declared.
type daemonSetStrategy struct {
	pod.TemplateStrategy
	family.DropStatusOnCreate
}

// Without values one Pod after the other is replaced, each after its predecessor is gone, as a node
// often has room for one only. A body without a count of templates counts none, so that who writes
// it owns that annotation; Prepare sets it right, also where a change of the metadata alone asks
// for no defaults.
func (daemonSetStrategy) Default(obj tree.Tree) {
	field.SetIfAbsent(obj.EnsureObject("metadata", "annotations"), templateGeneration, "0")
	spec := obj.EnsureObject("spec")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	if strategy := spec.EnsureObject("updateStrategy"); strategy.String("type") == "RollingUpdate" {
		rolling := strategy.EnsureObject("rollingUpdate")
		field.SetIfAbsent(rolling, "maxUnavailable", int64(1))
		field.SetIfAbsent(rolling, "maxSurge", int64(0))
	}
}

// templateGeneration is the annotation that counts the templates which a DaemonSet has had. Controllers may copy it
// into a label of the Pods.
const templateGeneration = "deprecated.daemonset.template.generation"

// Prepare keeps the count of templates, which nobody can change: a new DaemonSet begins with 1, or
// with a higher number that it brings, as one does that was orphaned and is created again.
func (s daemonSetStrategy) Prepare(obj, old tree.Tree) {
	s.DropStatusOnCreate.Prepare(obj, old)
	annotations := obj.EnsureObject("metadata", "annotations")
	if old == nil {
		if n, err := templatesOf(obj); err == nil {
			annotations[templateGeneration] = strconv.FormatInt(max(n, 1), 10)
		}
		return
	}
	if _, err := templatesOf(obj); err != nil {
		return // validation tells so
	}
	n, _ := templatesOf(old)
	if !tree.StrictEqual(obj.Object("spec", "template"), old.Object("spec", "template")) {
		n++
	}
	annotations[templateGeneration] = strconv.FormatInt(max(n, 1), 10)
}

// PrepareSubresource is Prepare for a write of the status, which changes no template.
func (daemonSetStrategy) PrepareSubresource(obj, old tree.Tree) {
	annotations, was := obj.Object("metadata", "annotations"), old.Object("metadata", "annotations")
	if _, err := templatesOf(obj); err != nil || annotations[templateGeneration] == was[templateGeneration] {
		return
	}
	kept, metadata := maps.Clone(annotations), maps.Clone(obj.Object("metadata"))
	if kept == nil {
		kept = tree.Tree{}
	}
	kept.CopyField(was, templateGeneration)
	metadata["annotations"] = kept
	obj["metadata"] = metadata
}

// templatesOf is the count of templates of a DaemonSet; 0 where there is none.
func templatesOf(obj tree.Tree) (int64, error) {
	text, given := obj.Object("metadata", "annotations")[templateGeneration]
	if !given {
		return 0, nil
	}
	s, _ := text.(string)
	return strconv.ParseInt(s, 10, 64)
}

// validateTemplateGeneration checks the count of the templates that a DaemonSet had.
func validateTemplateGeneration(obj tree.Tree, _ string, faults *schema.Faults) {
	if _, err := templatesOf(obj); err != nil {
		faults.Invalid("metadata.annotations["+templateGeneration+"]", obj.Object("metadata", "annotations")[templateGeneration], "must be a whole number")
	}
}
