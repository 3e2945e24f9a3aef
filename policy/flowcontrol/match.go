package flowcontrol

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authz"
)

type resourceRule struct {
	verbs                         verbs
	groups, resources, namespaces set
	cluster                       bool // matches requests without namespace
}

// matches reports whether the rule matches a request. A request for all namespaces requires
// clusterScope.
func (r *resourceRule) matches(a *authz.Attributes, verb verbs) bool {
	if r.verbs&verb == 0 || !r.groups.has(a.Group) || !r.resources.hasResource(a.Resource, a.Subresource) {
		return false
	}
	if a.Namespace == "" {
		return r.cluster
	}
	return r.namespaces.has(a.Namespace)
}

// A pathRule matches non-resource requests. A path also matches the paths below it.
type pathRule struct {
	verbs verbs
	paths set
}

func (r *pathRule) matches(a *authz.Attributes, verb verbs) bool {
	if r.verbs&verb == 0 {
		return false
	}
	return r.paths.all || slices.ContainsFunc(r.paths.values, func(path string) bool {
		below := strings.TrimSuffix(strings.TrimSuffix(path, "*"), "/")
		return path == a.Path || strings.HasPrefix(a.Path, below) && len(a.Path) > len(below) && a.Path[len(below)] == '/'
	})
}

// A set contains the listed strings, or all strings if all is set.
type set struct {
	all    bool
	values []string
}

// setOf returns the set for a list. Validation ensures that "*" is the only entry.
func setOf(values []string) set {
	if len(values) == 1 && values[0] == "*" {
		return set{all: true}
	}
	return set{values: values}
}

func (s *set) has(value string) bool { return s.all || slices.Contains(s.values, value) }

func (s *set) hasResource(resource, subresource string) bool {
	if s.all || subresource == "" {
		return s.has(resource)
	}
	return slices.ContainsFunc(s.values, func(v string) bool {
		rest, ok := strings.CutPrefix(v, resource)
		return ok && len(rest) > 1 && rest[0] == '/' && rest[1:] == subresource
	})
}

// verbs is a bit set of verbs. The bit otherVerb represents all unknown verbs, which only "*" in a
// rule matches.
type verbs uint16

const otherVerb verbs = 1

var verbNames = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy"}

func verbOf(name string) verbs {
	for i, v := range verbNames {
		if v == name {
			return otherVerb << (i + 1)
		}
	}
	return otherVerb
}

// verbsOf returns the set of the verbs in a rule. An unknown verb in a rule matches nothing, so it
// does not set otherVerb.
func verbsOf(names []string) (all verbs) {
	for _, name := range names {
		if name == "*" {
			return ^verbs(0)
		}
		all |= verbOf(name) &^ otherVerb
	}
	return all
}
