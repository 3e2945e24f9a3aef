package podsecurity

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Evaluator holds the checks for every level and version. It is immutable and safe for
// concurrent use.
type Evaluator struct {
	keys   *annotationKeys
	checks [Restricted + 1][newestMinor + 1][]check
}

// NewEvaluator returns an Evaluator with the checks of all levels and versions.
func NewEvaluator(naming *meta.Naming) *Evaluator {
	e := &Evaluator{keys: newAnnotationKeys(naming)}
	for level := range e.checks {
		for minor := range e.checks[level] {
			e.checks[level][minor] = checksAt(Level(level), minor)
		}
	}
	return e
}

// Evaluate checks a Pod or a Pod template. It returns all violations, so that the author can fix
// them at once.
func (e *Evaluator) Evaluate(lv LevelVersion, object tree.Tree) Violations {
	checks := e.checks[lv.Level][lv.Version.checks()]
	if len(checks) == 0 {
		return nil
	}
	var found Violations
	p := newPod(object, e.keys)
	for _, c := range checks {
		if reason, detail := c(p); reason != "" {
			found = append(found, Violation{reason, detail})
		}
	}
	return found
}

// A Violation describes one failed check.
type Violation struct{ Reason, Detail string }

// Violations lists a Pod's violations. It is empty if the Pod is allowed.
type Violations []Violation

// Reasons joins the reasons, as in "host namespaces, privileged". It omits details, so that similar
// Pods have the same reasons.
func (v Violations) Reasons() string {
	texts := make([]string, len(v))
	for i := range v {
		texts[i] = v[i].Reason
	}
	return strings.Join(texts, ", ")
}

// Details joins reasons and details, as in `host namespaces (hostPID=true), privileged (container
// "a" must not …)`.
func (v Violations) Details() string {
	texts := make([]string, len(v))
	for i := range v {
		texts[i] = v[i].Reason
		if v[i].Detail != "" {
			texts[i] += " (" + v[i].Detail + ")"
		}
	}
	return strings.Join(texts, ", ")
}
