package rbac

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authz"
)

// A target is a resource that a rule lists without wildcards.
type target struct{ group, resource, sub string }

// A role holds the compiled rules of one Role or ClusterRole. It is immutable.
type role struct {
	rules []rule
	// byTarget indexes the rules that list resources without wildcards. unindexed contains the
	// other rules.
	byTarget  map[target][]*rule
	unindexed []*rule
}

// Roles with up to four rules are not indexed, because scanning them is as fast as a map lookup.
// Rules with more than 256 group-resource pairs are not indexed, to limit the index size.
const (
	maxUnindexedRules = 4
	maxIndexedTargets = 256
)

// newRole compiles a role's rules. It runs once per stored version, outside the index lock.
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

func (r *rule) isOpenEnded() bool {
	return len(r.paths) > 0 || slices.Contains(r.groups, wildcard) || slices.ContainsFunc(r.resources, func(name string) bool {
		return strings.HasPrefix(name, wildcard)
	})
}

// allows reports whether a rule of the role allows the request. For indexed rules, it checks only
// verb and name, because the index has already matched group and resource.
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
