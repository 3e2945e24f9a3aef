package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// workload is what the kinds that keep Pods running have in common.
type workload struct {
	kind         string // as messages about its template call it
	selectorKind string // as messages about its selector call it
}

// validate checks the selector and the template of a spec, and that they belong together.
func (w workload) validate(spec tree.Tree, claims []string, faults *schema.Faults) {
	selector, template := spec.Object("selector"), spec.Object("template")
	if selector == nil {
		faults.Required("spec.selector")
	} else {
		w.validateSelector(selector, faults)
	}
	if selector == nil || !emptySelector(selector) {
		pod.ValidateSelectorMatchesTemplate(selector, template, "spec.template", faults)
	}
	pod.ValidateTemplate(template, "spec.template", claims, faults)
	pod.ValidateLongRunningTemplate(template, "spec.template", w.kind, faults)
}

func (w workload) validateSelector(selector tree.Tree, faults *schema.Faults) {
	field.LabelSelector(selector, "spec.selector", faults)
	if emptySelector(selector) {
		faults.Invalid("spec.selector", selector, "empty selector is invalid for "+w.selectorKind)
	}
}

// emptySelector tells a selector that says nothing, and so would select everything.
func emptySelector(s tree.Tree) bool {
	return len(s.Object("matchLabels"))+len(s.List("matchExpressions")) == 0
}

// validateImmutableSelector reports a selector that changed.
func validateImmutableSelector(obj, old tree.Tree, faults *schema.Faults) {
	field.Immutable(obj.Object("spec"), old.Object("spec"), "spec", "selector", faults)
}

// validateStatusCounts checks a status: none of the counts is negative, none of the parts is more
// than all replicas, and no more replicas are available than ready.
func validateStatusCounts(obj tree.Tree, faults *schema.Faults, counts, parts []string) {
	status := obj.Object("status")
	field.NonNegative(status, "status", faults, counts...)
	total, _ := status.Int("replicas")
	for _, name := range parts {
		if n, _ := status.Int(name); n > total {
			faults.Invalid("status."+name, n, "cannot be greater than status.replicas")
		}
	}
	ready, _ := status.Int("readyReplicas")
	if n, _ := status.Int("availableReplicas"); n > ready {
		faults.Invalid("status.availableReplicas", n, "cannot be greater than readyReplicas")
	}
}
