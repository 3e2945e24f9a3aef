package audit

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

// A Policy determines how much of each request is recorded. It is immutable.
type Policy struct{ rules []rule }

// A rule with resources or namespaces matches only requests for resources. A rule with paths
// matches only requests for paths. Any other rule matches both. An empty list matches everything.
type rule struct {
	level             Level
	users, groups     []string
	verbs             []string
	resources         []resources
	namespaces        []string // "" means cluster scope
	paths             []string // a trailing * matches any suffix
	omitStages        stageSet
	omitManagedFields bool
}

type resources struct {
	group string
	// names lists patterns: "*" (all resources and subresources), "pods", "pods/log", "pods/*" or
	// "*/status".
	names   []string
	objects []string // object names
}

// NewPolicy converts a valid AuditPolicy message to a Policy.
func NewPolicy(t tree.Tree) *Policy {
	p := &Policy{}
	for _, r := range t.Objects("rules") {
		made := rule{
			level: Level(slices.Index(levelNames, r.String("level"))), users: r.Strings("users"), groups: r.Strings("userGroups"), verbs: r.Strings("verbs"),
			namespaces: r.Strings("namespaces"), paths: r.Strings("nonResourceURLs"),
			omitStages: stages(t) | stages(r), omitManagedFields: t.Bool("omitManagedFields"),
		}
		if r.Has("omitManagedFields") {
			made.omitManagedFields = r.Bool("omitManagedFields")
		}
		for _, g := range r.Objects("resources") {
			made.resources = append(made.resources, resources{g.String("group"), g.Strings("resources"), g.Strings("resourceNames")})
		}
		p.rules = append(p.rules, made)
	}
	return p
}

func stages(t tree.Tree) (set stageSet) {
	for _, name := range t.Strings("omitStages") {
		set |= 1 << slices.Index(stageNames, name)
	}
	return set
}

// A Decision is a Policy's result for one request.
type Decision struct {
	Level             Level
	OmitManagedFields bool
	omitStages        stageSet
}

// Decide returns the decision of the first matching rule. If no rule matches, the level is None.
// a.User may be nil. For speed, the most frequently matched rules should come first.
func (p *Policy) Decide(a *authz.Attributes) Decision {
	for i := range p.rules {
		if r := &p.rules[i]; r.matches(a) {
			return Decision{Level: r.level, OmitManagedFields: r.omitManagedFields, omitStages: r.omitStages}
		}
	}
	return Decision{Level: None}
}

// matches reports whether the rule applies to a request. A rule with users or groups never matches
// an unknown user.
func (r *rule) matches(a *authz.Attributes) bool {
	switch {
	case len(r.users) > 0 && (a.User == nil || !slices.Contains(r.users, a.User.Name)):
		return false
	case len(r.groups) > 0 && (a.User == nil || !slices.ContainsFunc(r.groups, a.User.InGroup)):
		return false
	case len(r.verbs) > 0 && !slices.Contains(r.verbs, a.Verb):
		return false
	case len(r.namespaces) > 0 || len(r.resources) > 0:
		return a.ResourceRequest && r.matchesResource(a)
	case len(r.paths) > 0:
		return !a.ResourceRequest && slices.ContainsFunc(r.paths, func(pattern string) bool { return authz.CoversPath(pattern, a.Path) })
	}
	return true
}

func (r *rule) matchesResource(a *authz.Attributes) bool {
	if len(r.namespaces) > 0 && !slices.Contains(r.namespaces, a.Namespace) {
		return false
	}
	if len(r.resources) == 0 {
		return true
	}
	for i := range r.resources {
		if r.resources[i].match(a) {
			return true
		}
	}
	return false
}

func (r *resources) match(a *authz.Attributes) bool {
	if r.group != "*" && r.group != a.Group || len(r.objects) > 0 && !slices.Contains(r.objects, a.Name) {
		return false
	}
	if len(r.names) == 0 {
		return true
	}
	for _, name := range r.names {
		if matchesName(name, a) {
			return true
		}
	}
	return false
}

// matchesName reports whether name matches the resource and subresource. Unlike in RBAC, "pods/*"
// also matches the resource itself. "pods" matches no subresources.
func matchesName(name string, a *authz.Attributes) bool {
	if name == "*" {
		return true
	}
	resource, sub, both := strings.Cut(name, "/")
	switch {
	case !both:
		return resource == a.Resource && a.Subresource == ""
	case sub == "*":
		return resource == a.Resource
	case resource == "*":
		return sub == a.Subresource
	}
	return resource == a.Resource && sub == a.Subresource
}
