package authz

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// A RuleResolver is an Authorizer that can list what it allows, unless another mode denies it.
type RuleResolver interface {
	Authorizer
	// RulesFor returns what user may do in a namespace.
	RulesFor(user *authn.User, namespace string) RuleSet
}

// RuleSet lists what a user may do.
type RuleSet struct {
	ResourceRules    []ResourceRule
	NonResourceRules []NonResourceRule
	// Incomplete says that there may be more rules. EvaluationError is the reason for clients and
	// may be "".
	Incomplete      bool
	EvaluationError string
}

// A ResourceRule allows verbs on resources of groups; "*" matches all. Without Names it applies to
// all objects.
type ResourceRule struct{ Verbs, Groups, Resources, Names []string }

// A NonResourceRule allows verbs on other paths; a trailing "*" matches a prefix.
type NonResourceRule struct{ Verbs, Paths []string }

func (r ResourceRule) equal(o ResourceRule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.Groups, o.Groups) && slices.Equal(r.Resources, o.Resources) && slices.Equal(r.Names, o.Names)
}

func (r NonResourceRule) equal(o NonResourceRule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.Paths, o.Paths)
}

// RulesFor combines the rules of all modes without duplicates. A mode that cannot list its rules
// makes them incomplete.
func (modes union) RulesFor(user *authn.User, namespace string) RuleSet {
	var all RuleSet
	var faults []string
	for _, m := range modes {
		p := RuleSet{Incomplete: true}
		if lister, ok := m.(RuleResolver); ok {
			p = lister.RulesFor(user, namespace)
		}
		for _, rule := range p.ResourceRules {
			if !slices.ContainsFunc(all.ResourceRules, rule.equal) {
				all.ResourceRules = append(all.ResourceRules, rule)
			}
		}
		for _, rule := range p.NonResourceRules {
			if !slices.ContainsFunc(all.NonResourceRules, rule.equal) {
				all.NonResourceRules = append(all.NonResourceRules, rule)
			}
		}
		all.Incomplete = all.Incomplete || p.Incomplete
		if p.EvaluationError != "" {
			faults = append(faults, p.EvaluationError)
		}
	}
	all.EvaluationError = strings.Join(faults, ", ")
	if len(faults) > 1 {
		all.EvaluationError = "[" + all.EvaluationError + "]"
	}
	return all
}

func allowAllRules() RuleSet {
	every := []string{"*"}
	return RuleSet{
		ResourceRules:    []ResourceRule{{Verbs: every, Groups: every, Resources: every}},
		NonResourceRules: []NonResourceRule{{Verbs: every, Paths: every}},
	}
}

// RulesFor returns all rules for members of system:masters.
func (m Masters) RulesFor(user *authn.User, _ string) RuleSet {
	if d, _ := m.Authorize(Attributes{User: user}); d != Allow {
		return RuleSet{}
	}
	return allowAllRules()
}

// RulesFor returns the rule to read the paths.
func (p AlwaysAllowPaths) RulesFor(*authn.User, string) RuleSet {
	return RuleSet{NonResourceRules: []NonResourceRule{{Verbs: []string{"get", "head"}, Paths: p}}}
}
