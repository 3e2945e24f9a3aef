package catalog

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// startEmpty drops the status of a new object: others fill it in.
func startEmpty(obj, old schema.Tree) {
	if old == nil {
		delete(obj, "status")
	}
}

// workload is what the kinds that keep Pods running have in common.
type workload struct {
	kind  string // as messages about its template call it
	lower string // as messages about its selector call it
}

// validate checks the selector and the template of a spec, and that they belong together.
func (w workload) validate(spec schema.Tree, claims []string, faults *schema.Faults) {
	selector, template := rules.Sub(spec, "selector"), rules.Sub(spec, "template")
	if selector == nil {
		faults.Required("spec.selector")
	} else {
		w.validateSelector(selector, faults)
	}
	if selector == nil || !emptySelector(selector) {
		validateSelected(selector, template, "spec.template", faults)
	}
	validateTemplate(template, "spec.template", claims, faults)
	validateEndless(template, "spec.template", w.kind, faults)
}

func (w workload) validateSelector(selector schema.Tree, faults *schema.Faults) {
	validateLabelSelector(selector, "spec.selector", faults)
	if emptySelector(selector) {
		faults.Invalid("spec.selector", selector, "empty selector is invalid for "+w.lower)
	}
}

// emptySelector tells a selector that says nothing, and so would select everything.
func emptySelector(s schema.Tree) bool {
	return len(rules.Sub(s, "matchLabels"))+len(rules.Items(s, "matchExpressions")) == 0
}

// keepSelector reports a selector that changed.
func keepSelector(obj, old schema.Tree, faults *schema.Faults) {
	keepField(rules.Sub(obj, "spec"), rules.Sub(old, "spec"), "spec", "selector", faults)
}

// keepField reports a field below path that changed.
func keepField(t, old schema.Tree, path, name string, faults *schema.Faults) {
	if !rules.Equal(t[name], old[name]) {
		faults.Invalid(rules.Join(path, name), t[name], "field is immutable")
	}
}

// validateShare checks a number, or a percentage, of replicas. atMost tells that a
// percentage may not be above 100.
func validateShare(t schema.Tree, name, path string, atMost bool, faults *schema.Faults) {
	at := rules.Join(path, name)
	switch v := t[name].(type) {
	case string:
		for _, msg := range rules.Percent(v) {
			faults.Invalid(at, v, msg)
		}
		if atMost && percent(v) > 100 {
			faults.Invalid(at, v, "must not be greater than 100%")
		}
	case int64:
		notNegative(t, path, faults, name)
	}
}

// percent is the number of a percentage; 0 of what is none.
func percent(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "%"), 10, 32)
	if err != nil || !strings.HasSuffix(s, "%") {
		return 0
	}
	return n
}

// noShare tells a number or a percentage of nothing.
func noShare(v any) bool {
	switch v := v.(type) {
	case string:
		return percent(v) == 0
	case int64:
		return v == 0
	}
	return true
}

// validateCounts checks a status: none of the counts is negative, none of the parts is more
// than all replicas, and no more replicas are available than ready.
func validateCounts(obj schema.Tree, faults *schema.Faults, counts, parts []string) {
	status := rules.Sub(obj, "status")
	notNegative(status, "status", faults, counts...)
	total, _ := rules.Int(status, "replicas")
	for _, name := range parts {
		if n, _ := rules.Int(status, name); n > total {
			faults.Invalid("status."+name, n, "cannot be greater than status.replicas")
		}
	}
	ready, _ := rules.Int(status, "readyReplicas")
	if n, _ := rules.Int(status, "availableReplicas"); n > ready {
		faults.Invalid("status.availableReplicas", n, "cannot be greater than readyReplicas")
	}
}
