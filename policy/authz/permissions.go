package authz

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// A RuleResolver is an Authorizer that can list a user's rules. Another mode may still deny a
// request that these rules allow.
type RuleResolver interface {
	Authorizer
	// RulesFor returns the rules that apply to a user in a namespace.
	RulesFor(user *authn.User, namespace string) RuleSet
}

// RuleSet lists a user's rules.
type RuleSet struct {
	ResourceRules    []ResourceRule
	NonResourceRules []NonResourceRule
	// Incomplete is true if the user may have more rules. EvaluationError explains why, and may be
	// empty.
	Incomplete      bool
	EvaluationError string
}

// A ResourceRule allows verbs on resources in API groups. "*" matches any value. If Names is empty,
// the rule applies to all objects.
type ResourceRule struct{ Verbs, Groups, Resources, Names []string }

// A NonResourceRule allows verbs on non-resource paths. A trailing "*" matches by prefix.
type NonResourceRule struct{ Verbs, Paths []string }

func (r ResourceRule) equal(o ResourceRule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.Groups, o.Groups) && slices.Equal(r.Resources, o.Resources) && slices.Equal(r.Names, o.Names)
}

func (r NonResourceRule) equal(o NonResourceRule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.Paths, o.Paths)
}

// RulesFor combines the rules of all modes without duplicates. The result is incomplete if a mode
// cannot list rules.
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

// RulesFor returns rules that allow everything if Masters applies to the user.
func (m Masters) RulesFor(user *authn.User, _ string) RuleSet {
	if d, _ := m.Authorize(Attributes{User: user}); d != Allow {
		return RuleSet{}
	}
	return allowAllRules()
}

// RulesFor returns a rule that allows reading the paths.
func (p AlwaysAllowPaths) RulesFor(*authn.User, string) RuleSet {
	return RuleSet{NonResourceRules: []NonResourceRule{{Verbs: []string{"get", "head"}, Paths: p}}}
}
