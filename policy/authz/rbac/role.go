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
	// exact finds the rules that name a resource; scanned are the others.
	exact   map[target][]*rule
	scanned []*rule
}

// Beyond these sizes rules are found by name, or not at all.
const (
	fewRules    = 4
	mostTargets = 256
)

func newRole(list []rule) *role {
	r := &role{rules: list}
	for i := range list {
		one := &list[i]
		if len(list) <= fewRules || one.open() || len(one.groups)*len(one.resources) > mostTargets {
			r.scanned = append(r.scanned, one)
		} else {
			r.name(one)
		}
	}
	return r
}

// name makes a rule known under all resources that it names.
func (r *role) name(one *rule) {
	if r.exact == nil {
		r.exact = map[target][]*rule{}
	}
	for _, group := range one.groups {
		for _, name := range one.resources {
			resource, sub, _ := strings.Cut(name, "/")
			at := target{group, resource, sub}
			r.exact[at] = append(r.exact[at], one)
		}
	}
}

// open tells whether a rule is about more than the resources that it names.
func (r *rule) open() bool {
	return len(r.paths) > 0 || slices.Contains(r.groups, every) || slices.ContainsFunc(r.resources, func(name string) bool {
		return strings.HasPrefix(name, every)
	})
}

// allows tells whether one of the rules allows what is asked.
func (r *role) allows(a *authz.Attributes) bool {
	for _, rule := range r.scanned {
		if rule.allows(a) {
			return true
		}
	}
	if !a.ResourceRequest || r.exact == nil {
		return false
	}
	for _, rule := range r.exact[target{a.Group, a.Resource, a.Subresource}] {
		if has(rule.verbs, a.Verb) && rule.allowsName(a.Name) {
			return true
		}
	}
	return false
}
