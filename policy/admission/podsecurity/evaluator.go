package podsecurity

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Evaluator checks Pods. It is immutable, and pure: many goroutines may use it. Every level and version
// has its list of checks, made in advance, so an evaluation only runs through one.
type Evaluator struct {
	keys   *annotationKeys
	checks [Restricted + 1][newestMinor + 1][]check
}

// NewEvaluator makes the checks of all levels and versions.
func NewEvaluator(naming *meta.Naming) *Evaluator {
	e := &Evaluator{keys: newAnnotationKeys(naming)}
	for level := range e.checks {
		for minor := range e.checks[level] {
			e.checks[level][minor] = checksAt(Level(level), minor)
		}
	}
	return e
}

// Evaluate checks a Pod, or the template of one: an object with metadata and spec. It finds all violations,
// not just the first, since a Pod's author wants to correct them at once.
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

// A Violation is what one check forbids: in short, and what exactly.
type Violation struct{ Reason, Detail string }

// Violations are all that is forbidden of a Pod; none if it is allowed.
type Violations []Violation

// Reasons is as in "host namespaces, privileged": for many Pods at a time. Details would differ between
// Pods that are otherwise alike.
func (v Violations) Reasons() string {
	texts := make([]string, len(v))
	for i := range v {
		texts[i] = v[i].Reason
	}
	return strings.Join(texts, ", ")
}

// Details is as in `host namespaces (hostPID=true), privileged (container "a" must not …)`.
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
