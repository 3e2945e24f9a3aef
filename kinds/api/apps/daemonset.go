package apps

import (
	"maps"
	"strconv"

	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// daemonSetStrategy needs no ValidateUpdate, because a declarative rule makes the selector
// immutable.
type daemonSetStrategy struct {
	schema.DefaultStrategy
	schema.DropStatusOnCreate
}

// Default limits rolling updates to one unavailable Pod and no surge, because nodes often lack room
// for two Pods.
//
// Default also adds the template generation annotation, so that the request's field manager owns
// it. Prepare computes the value, because metadata-only updates skip defaulting.
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

// templateGeneration is the annotation that counts changes to a DaemonSet's template. Controllers
// may copy it to a Pod label.
const templateGeneration = "deprecated.daemonset.template.generation"

// Prepare maintains the template generation, which starts at 1 unless a new DaemonSet's manifest
// has a higher number.
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
		return // validation reports it
	}
	n, _ := templatesOf(old)
	if !tree.StrictEqual(obj.Object("spec", "template"), old.Object("spec", "template")) {
		n++
	}
	annotations[templateGeneration] = strconv.FormatInt(max(n, 1), 10)
}

// PrepareSubresource keeps the template generation when a client writes the status.
func (daemonSetStrategy) PrepareSubresource(obj, old tree.Tree) {
	annotations, was := obj.Annotations(), old.Annotations()
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

func templatesOf(obj tree.Tree) (int64, error) {
	text, given := obj.Annotations()[templateGeneration]
	if !given {
		return 0, nil
	}
	s, _ := text.(string)
	return strconv.ParseInt(s, 10, 64)
}

func validateTemplateGeneration(obj tree.Tree, _ string, faults *schema.Faults) {
	if _, err := templatesOf(obj); err != nil {
		faults.Invalid("metadata.annotations["+templateGeneration+"]", obj.Annotations()[templateGeneration], "must be a whole number")
	}
}
