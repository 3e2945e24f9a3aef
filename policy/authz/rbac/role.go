package rbac

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authz"
)

// A target is a resource in a rule without patterns.
type target struct{ group, resource, sub string }

// A role is the compiled, immutable rules of one object.
type role struct {
	rules []rule
	// byTarget indexes the rules that name resources; unindexed has the others.
	byTarget  map[target][]*rule
	unindexed []*rule
}

// Roles with up to four rules are not indexed, since scanning them is as fast as a map lookup.
// Rules with more than 256 pairs of group and resource are not indexed, since the index would
// become too large.
const (
	maxUnindexedRules = 4
	maxIndexedTargets = 256
)

// newRole runs once per version of the stored object, outside the lock of the index.
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

// isOpenEnded reports whether a rule applies to more than the resources that it names.
func (r *rule) isOpenEnded() bool {
	return len(r.paths) > 0 || slices.Contains(r.groups, wildcard) || slices.ContainsFunc(r.resources, func(name string) bool {
		return strings.HasPrefix(name, wildcard)
	})
}

// allows reports whether one of the rules allows the request. Group and resource of indexed rules
// match already.
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
