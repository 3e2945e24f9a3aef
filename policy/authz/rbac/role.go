package rbac

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authz"
)

// A target is a resource as rules name it, without patterns.
type target struct{ group, resource, sub string }

// A role is the rules of one object, arranged for a quick answer. It is immutable.
type role struct {
	rules []rule
	// byTarget finds the rules that name a resource; scanned are the others.
	byTarget  map[target][]*rule
	unindexed []*rule
}

// Beyond these sizes rules are found by name, or not at all.
//
// With up to four rules a walk over them is no slower than a look into a map. A rule that names more than 256 pairs of
// group and resource would make the map larger than the rule is worth.
const (
	maxUnindexedRules = 4
	maxIndexedTargets = 256
)

// It is made once for each version of the stored object, outside the lock of the index.
func newRole(list []rule) *role {
	r := &role{rules: list}
	for i := range list {
		one := &list[i]
		if len(list) <= maxUnindexedRules || one.isOpenEnded() || len(one.groups)*len(one.resources) > maxIndexedTargets {
			r.unindexed = append(r.unindexed, one)
		} else {
			r.addToIndex(one)
		}
	}
	return r
}

// addToIndex makes a rule known under all resources that it names.
func (r *role) addToIndex(one *rule) {
	if r.byTarget == nil {
		r.byTarget = map[target][]*rule{}
	}
	for _, group := range one.groups {
		for _, name := range one.resources {
			resource, sub, _ := strings.Cut(name, "/")
			at := target{group, resource, sub}
			r.byTarget[at] = append(r.byTarget[at], one)
		}
	}
}

// isOpenEnded tells whether a rule is about more than the resources that it names.
func (r *rule) isOpenEnded() bool {
	return len(r.paths) > 0 || slices.Contains(r.groups, wildcard) || slices.ContainsFunc(r.resources, func(name string) bool {
		return strings.HasPrefix(name, wildcard)
	})
}

// allows tells whether one of the rules allows what is asked.
//
// Rules in the map need no comparison of group and resource any more, only of verb and name.
func (r *role) allows(a *authz.Attributes) bool {
	for _, rule := range r.unindexed {
		if rule.allows(a) {
			return true
		}
	}
	if !a.ResourceRequest || r.byTarget == nil {
		return false
	}
	for _, rule := range r.byTarget[target{a.Group, a.Resource, a.Subresource}] {
		if containsOrWildcard(rule.verbs, a.Verb) && rule.allowsName(a.Name) {
			return true
		}
	}
	return false
}
