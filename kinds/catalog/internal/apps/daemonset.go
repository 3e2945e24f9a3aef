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

// The selector must match the template. A controller would not recognize its own Pods otherwise, and would make new
// ones without an end.
func (daemonSetStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	if _, err := templatesOf(obj); err != nil {
		path := "metadata.annotations[" + templateGeneration + "]"
		faults.Invalid(path, obj.Object("metadata", "annotations")[templateGeneration], "must be a whole number")
	}
	spec := obj.Object("spec")
	selector, template := spec.Object("selector"), spec.Object("template")
	if selector == nil || (workload{selectorKind: "daemonset"}).validateSelector(selector, faults) {
		pod.ValidateSelectorMatchesTemplate(selector, template, "spec.template", faults)
	}
	pod.ValidateTemplate(template, "spec.template", nil, faults)
	pod.ValidateLongRunningTemplate(template, "spec.template", "DaemonSet", faults)
	validateDaemonSetStrategy(spec.Object("updateStrategy"), faults)
}

// validateDaemonSetStrategy reports at the strategy as a whole, as clients know it.
func validateDaemonSetStrategy(strategy tree.Tree, faults *schema.Faults) {
	const path = "spec.updateStrategy"
	switch strategy.String("type") {
	case "OnDelete":
	case "RollingUpdate":
		validateDaemonSetRollingUpdate(strategy.Object("rollingUpdate"), path+".rollingUpdate", faults)
	default:
		faults.NotSupported(path, strategy, []string{"RollingUpdate", "OnDelete"})
	}
}

// validateDaemonSetRollingUpdate requires exactly one of maxUnavailable and maxSurge to be non-zero.
//
// Both zero would never replace a Pod; both set would leave it open which comes first on a node.
func validateDaemonSetRollingUpdate(rolling tree.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"maxUnavailable", "maxSurge"} {
		field.IntOrPercent(rolling, name, path, true, faults)
	}
	surge := rolling["maxSurge"]
	switch fewer, more := !field.IsZero(rolling["maxUnavailable"]), !field.IsZero(surge); {
	case fewer && more:
		faults.Invalid(path+".maxSurge", surge, "may not be set when maxUnavailable is non-zero")
	case !fewer && !more:
		faults.Required(path+".maxUnavailable", "cannot be 0 when maxSurge is 0")
	}
}
