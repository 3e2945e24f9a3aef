package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An evaluator says what the objects of one resource use. Its functions are pure. Its functions get objects
// in stored form.
type evaluator struct {
	// counts are the names under which every object counts once, whatever it holds.
	counts []string
	// limits tells whether a quota limits objects of the resource under a name beside counts; nil if none
	// does.
	limits func(name string) bool
	// usage is what an object uses beside its counts.
	usage func(object tree.Tree) amounts
	// inScope tells whether an object belongs to a scope; nil if none does to any.
	inScope func(r requirement, object tree.Tree) bool
	// constraint tells what a new object must say, and does not, where a quota limits resources; "" if
	// nothing.
	constraint func(limited []string, object tree.Tree) string
	// checks tells whether an update by a sub-resource, "" for none, may be refused; nil if never.
	checks func(subresource string, now, was tree.Tree) bool
}

// countPrefix begins the names of counts of any resource.
const countPrefix = "count/"

// countName is the name under which objects of a resource are counted. It is the form by which any resource
// can be counted, custom ones too.
func countName(r meta.GroupResource) string {
	if r.Group == "" {
		return countPrefix + r.Resource
	}
	return countPrefix + r.Resource + "." + r.Group
}

// countedResource is the resource of such a name.
func countedResource(name string) (r meta.GroupResource, ok bool) {
	name, ok = strings.CutPrefix(name, countPrefix)
	r.Resource, r.Group, _ = strings.Cut(name, ".")
	return r, ok && r.Resource != ""
}

// covers tells whether objects of the resource count under a name.
func (e *evaluator) covers(name string) bool {
	return slices.Contains(e.counts, name) || e.limits != nil && e.limits(name)
}

// used is all that an object uses.
func (e *evaluator) used(object tree.Tree) amounts {
	var all amounts
	if e.usage != nil {
		all = e.usage(object)
	}
	for _, name := range e.counts {
		all = append(all, namedAmount{name, one})
	}
	return all
}

// matches tells whether an object belongs to all of some scopes. An object that does not match counts
// nothing for a quota with scopes.
func (e *evaluator) matches(scopes []requirement, object tree.Tree) bool {
	for _, r := range scopes {
		if e.inScope == nil || !e.inScope(r, object) {
			return false
		}
	}
	return true
}

// evaluators are those of the resources that are more than counted, or have another name beside that of
// the count. Resources are as in storage.
type evaluators map[meta.GroupResource]*evaluator

// newEvaluators makes the evaluators for the names of a profile.
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

// of is the evaluator of any resource; nil for those that no quota limits.
func (e evaluators) of(r meta.GroupResource) *evaluator {
	if known := e[r]; known != nil {
		return known
	}
	if r.Resource == "events" && (r.Group == "" || strings.HasPrefix(r.Group, "events.")) {
		return nil
	}
	return &evaluator{counts: []string{countName(r)}}
}
