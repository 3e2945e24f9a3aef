package catalog

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// dropStatusOnCreate drops the status of a new object: others fill it in.
func dropStatusOnCreate(obj, old tree.Tree) {
	if old == nil {
		delete(obj, "status")
	}
}

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
		validateSelectorMatchesTemplate(selector, template, "spec.template", faults)
	}
	validateTemplate(template, "spec.template", claims, faults)
	validateLongRunningTemplate(template, "spec.template", w.kind, faults)
}

func (w workload) validateSelector(selector tree.Tree, faults *schema.Faults) {
	validateLabelSelector(selector, "spec.selector", faults)
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
	validateImmutableField(obj.Object("spec"), old.Object("spec"), "spec", "selector", faults)
}

// validateImmutableField reports a field below path that changed.
func validateImmutableField(t, old tree.Tree, path, name string, faults *schema.Faults) {
	if !tree.SemanticEqual(t[name], old[name]) {
		faults.Invalid(tree.FieldPath(path, name), t[name], "field is immutable")
	}
}

// validateIntOrPercent checks a number, or a percentage, of replicas. atMost tells that a
// percentage may not be above 100.
func validateIntOrPercent(t tree.Tree, name, path string, atMost bool, faults *schema.Faults) {
	at := tree.FieldPath(path, name)
	switch v := t[name].(type) {
	case string:
		for _, msg := range rules.Percent(v) {
			faults.Invalid(at, v, msg)
		}
		if atMost && percentValue(v) > 100 {
			faults.Invalid(at, v, "must not be greater than 100%")
		}
	case int64:
		validateNonNegative(t, path, faults, name)
	}
}

// percentValue is the number of a percentage; 0 of what is none.
func percentValue(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "%"), 10, 32)
	if err != nil || !strings.HasSuffix(s, "%") {
		return 0
	}
	return n
}

// isZeroIntOrPercent tells a number or a percentage of nothing.
func isZeroIntOrPercent(v any) bool {
	switch v := v.(type) {
	case string:
		return percentValue(v) == 0
	case int64:
		return v == 0
	}
	return true
}

// validateStatusCounts checks a status: none of the counts is negative, none of the parts is more
// than all replicas, and no more replicas are available than ready.
func validateStatusCounts(obj tree.Tree, faults *schema.Faults, counts, parts []string) {
	status := obj.Object("status")
	validateNonNegative(status, "status", faults, counts...)
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
