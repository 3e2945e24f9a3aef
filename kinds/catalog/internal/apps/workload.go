package apps

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A workload checks what the kinds with a selector and a Pod template have in common.
type workload struct {
	kind         string // the kind in messages about the template
	selectorKind string // the kind in messages about the selector
	namesPods    bool   // the controller gives Pods their names of hosts
	badSelector  string // what the fault of a selector that is none says beyond those of its parts
}

// validate checks the selector and the template of a spec, and that one matches the other.
//
// An empty selector is reported once, as a fault of its own; that it matches the template would only hide it. Where the selector is
// none, nobody can say whether it matches, and the template is not looked at.
func (w workload) validate(spec tree.Tree, claims []string, faults *schema.Faults) {
	selector, template := spec.Object("selector"), spec.Object("template")
	if selector != nil && !w.validateSelector(selector, faults) {
		faults.Invalid("spec.selector", selector, w.badSelector)
		if w.namesPods {
			pod.ValidateLongRunningTemplate(template, "spec.template", w.kind, faults)
		}
		return
	}
	if selector == nil || !emptySelector(selector) {
		pod.ValidateSelectorMatchesTemplate(selector, template, "spec.template", faults)
	}
	if w.namesPods {
		template = withoutHostNames(template)
	}
	pod.ValidateTemplate(template, "spec.template", claims, faults)
	pod.ValidateLongRunningTemplate(template, "spec.template", w.kind, faults)
}

// withoutHostNames is a template without the names that a controller which names its Pods sets in each of them.
func withoutHostNames(template tree.Tree) tree.Tree {
	out, spec := maps.Clone(template), maps.Clone(template.Object("spec"))
	delete(spec, "hostname")
	delete(spec, "subdomain")
	if spec != nil {
		out["spec"] = spec
	}
	return out
}

// A selector that selects everything would make the controller adopt, and delete, Pods of others. validateSelector tells whether it is a
// selector at all.
func (w workload) validateSelector(selector tree.Tree, faults *schema.Faults) bool {
	found := len(faults.List)
	field.LabelSelector(selector, "spec.selector", faults)
	ok := len(faults.List) == found
	if emptySelector(selector) {
		faults.Invalid("spec.selector", selector, "empty selector is invalid for "+w.selectorKind)
	}
	return ok
}

// emptySelector reports whether a selector has no requirement, so that it selects everything. It is another
// question than whether it is absent, which selects nothing.
func emptySelector(s tree.Tree) bool {
	return len(s.Object("matchLabels"))+len(s.List("matchExpressions")) == 0
}

// validateStatusCounts checks a status: no part exceeds replicas, and availableReplicas does not exceed
// readyReplicas.
//
// The parts are counts of the same Pods. A controller that writes more than the whole has counted at two moments, and
// its clients would wait for the wrong one.
func validateStatusCounts(obj tree.Tree, faults *schema.Faults, parts ...string) {
	status := obj.Object("status")
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

// validateCollisions refuses a count of collisions that goes back: the controller makes the names of revisions of it, and would meet
// those again that are taken.
func validateCollisions(status, old tree.Tree, faults *schema.Faults) {
	was, counted := old.Int("collisionCount")
	now, given := status.Int("collisionCount")
	if counted && (!given || now < was) {
		faults.Invalid("status.collisionCount", now, "cannot be decremented")
	}
}
