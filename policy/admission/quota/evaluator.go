package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An evaluator computes the usage of objects of one resource. Its functions are pure and take
// objects in stored form.
type evaluator struct {
	// counts lists the names under which every object counts as one.
	counts []string
	// limits reports whether the resource has usage under a name that is not in counts. It may be
	// nil.
	limits func(name string) bool
	// usage returns the usage of an object, without counts.
	usage func(object tree.Tree) amount.List
	// inScope reports whether an object belongs to a scope. It is nil if the resource has no
	// scopes.
	inScope func(r requirement, object tree.Tree) bool
	// constraint returns the required fields that a new object lacks under the given limits, or "".
	constraint func(limited []string, object tree.Tree) string
	// checks reports whether an update through a subresource, or "" for the main resource, may be
	// rejected. If it is nil, updates are never rejected.
	checks func(subresource string, now, was tree.Tree) bool
}

const countPrefix = "count/"

func countName(r meta.GroupResource) string {
	if r.Group == "" {
		return countPrefix + r.Resource
	}
	return countPrefix + r.Resource + "." + r.Group
}

func countedResource(name string) (r meta.GroupResource, ok bool) {
	name, ok = strings.CutPrefix(name, countPrefix)
	r.Resource, r.Group, _ = strings.Cut(name, ".")
	return r, ok && r.Resource != ""
}

func (e *evaluator) covers(name string) bool {
	return slices.Contains(e.counts, name) || e.limits != nil && e.limits(name)
}

func (e *evaluator) used(object tree.Tree) amount.List {
	var all amount.List
	if e.usage != nil {
		all = e.usage(object)
	}
	for _, name := range e.counts {
		all = append(all, amount.Named{Name: name, Amount: one})
	}
	return all
}

// matches reports whether an object belongs to all scopes. Only then does it count for the quota.
func (e *evaluator) matches(scopes []requirement, object tree.Tree) bool {
	for _, r := range scopes {
		if e.inScope == nil || !e.inScope(r, object) {
			return false
		}
	}
	return true
}

// evaluators holds the evaluators of resources that have quota names other than the object count.
type evaluators map[meta.GroupResource]*evaluator

func newEvaluators(naming *meta.Naming) evaluators {
	all := evaluators{
		pods:                                 podEvaluator(naming),
		{Resource: "services"}:               serviceEvaluator(),
		{Resource: "persistentvolumeclaims"}: claimEvaluator(naming),
		{Group: naming.Group("resource"), Resource: "resourceclaims"}: deviceClaimEvaluator(naming),
	}
	for _, name := range []string{"configmaps", "resourcequotas", "replicationcontrollers", "secrets"} {
		r := meta.GroupResource{Resource: name}
		all[r] = &evaluator{counts: []string{countName(r), name}}
	}
	return all
}

// of returns the evaluator of any resource. It returns nil for Events, which quotas cannot limit.
func (e evaluators) of(r meta.GroupResource) *evaluator {
	if known := e[r]; known != nil {
		return known
	}
	if r.Resource == "events" && (r.Group == "" || strings.HasPrefix(r.Group, "events.")) {
		return nil
	}
	return &evaluator{counts: []string{countName(r)}}
}
