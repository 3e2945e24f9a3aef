package audit

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authz"
)

// A Policy says what is written of which request. It is immutable.
type Policy struct {
	rules             []rule
	omitStages        stageSet
	omitManagedFields bool
}

// A rule matches requests for resources, for paths, or for both where it names neither. An
// empty list of anything stands for all.
type rule struct {
	level             Level
	users, groups     []string
	verbs             []string
	resources         []resources
	namespaces        []string // "" is cluster scope
	paths             []string // a last * stands for any rest
	omitStages        stageSet
	omitManagedFields bool
}

// resources are some of one API group.
type resources struct {
	group string
	// names are "*" (all, with sub-resources), "pods", "pods/log", "pods/*" or "*/status".
	names   []string
	objects []string // by name
}

// A Decision is what a Policy says about one request.
type Decision struct {
	Level             Level
	OmitManagedFields bool
	omitStages        stageSet
}

// Decide finds the first rule that matches. Where none does nothing is written. a.User may be
// nil if the user is not known.
//
// The cost is one comparison after the other, for every request: rules that match most belong first. Omitted stages
// of the policy and the rule add up; a rule cannot ask for what the policy leaves out.
func (p *Policy) Decide(a *authz.Attributes) Decision {
	for i := range p.rules {
		if r := &p.rules[i]; r.matches(a) {
			return Decision{Level: r.level, OmitManagedFields: r.omitManagedFields, omitStages: r.omitStages | p.omitStages}
		}
	}
	return Decision{Level: None}
}

// A user that is not known matches no rule that names users or groups. Namespaces or resources make it a rule for
// resources only, so that a rule for a namespace does not record health checks.
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
	if r.group != a.Group || len(r.objects) > 0 && !slices.Contains(r.objects, a.Name) {
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

// Examples: "pods" is the Pods without their sub-resources, "pods/*" both, "*/status" the status of everything.  In roles "pods/*" is no pattern, here it is.
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
