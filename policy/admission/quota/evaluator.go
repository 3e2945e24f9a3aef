package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An evaluator computes the usage of one resource's objects. Its functions are pure and take
// objects in stored form.
type evaluator struct {
	counts []string
	// limits reports whether a quota name outside counts applies to the resource. nil means that
	// none does.
	limits func(name string) bool
	// usage returns the usage of an object. It omits the object counts, which are in counts.
	usage func(object tree.Tree) amount.List
	// inScope reports whether an object is in a scope. nil means that the resource has no scopes.
	inScope func(r requirement, object tree.Tree) bool
	// constraint returns the required fields that a new object lacks, or "". A field is required if
	// a limit in limited depends on it.
	constraint func(limited []string, object tree.Tree) string
	// checks reports whether quotas may reject an update. subresource is "" for an update of the
	// main resource. If checks is nil, quotas never reject updates.
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

func (e *evaluator) matches(scopes []requirement, object tree.Tree) bool {
	for _, r := range scopes {
		if e.inScope == nil || !e.inScope(r, object) {
			return false
		}
	}
	return true
}

// evaluators holds the evaluators of resources with quota names other than count/….
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

// of returns a resource's evaluator, or nil for Events, which quotas cannot limit.
func (e evaluators) of(r meta.GroupResource) *evaluator {
	if known := e[r]; known != nil {
		return known
	}
	if r.Resource == "events" && (r.Group == "" || strings.HasPrefix(r.Group, "events.")) {
		return nil
	}
	return &evaluator{counts: []string{countName(r)}}
}
