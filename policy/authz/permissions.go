package authz

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// A RuleResolver is an Authorizer that can list what it allows, as far as no other mode denies it.
type RuleResolver interface {
	Authorizer
	// RulesFor are what user may do in a namespace.
	RulesFor(user *authn.User, namespace string) RuleSet
}

// RuleSet are what a user may do.
type RuleSet struct {
	ResourceRules    []ResourceRule
	NonResourceRules []NonResourceRule
	// Incomplete: there may be more. Fault says why, for clients; it may be "".
	Incomplete      bool
	EvaluationError string
}

// A ResourceRule allows verbs on resources of groups; "*" stands for all. Without Names it
// is about all objects.
type ResourceRule struct{ Verbs, Groups, Resources, Names []string }

// A NonResourceRule allows verbs on paths that are no resources; "*" ends one that stands for all
// that begin so.
type NonResourceRule struct{ Verbs, Paths []string }

// equal rules allow the same in the same words.
func (r ResourceRule) equal(o ResourceRule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.Groups, o.Groups) && slices.Equal(r.Resources, o.Resources) && slices.Equal(r.Names, o.Names)
}

func (r NonResourceRule) equal(o NonResourceRule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.Paths, o.Paths)
}

// RulesFor gathers those of all modes, equal rules once. A mode that cannot list its own
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

// allowAllRules may be done.
func allowAllRules() RuleSet {
	every := []string{"*"}
	return RuleSet{
		ResourceRules:    []ResourceRule{{Verbs: every, Groups: every, Resources: every}},
		NonResourceRules: []NonResourceRule{{Verbs: every, Paths: every}},
	}
}

// RulesFor are everything for members of system:masters.
func (m Masters) RulesFor(user *authn.User, _ string) RuleSet {
	if d, _ := m.Authorize(Attributes{User: user}); d != Allow {
		return RuleSet{}
	}
	return allowAllRules()
}

// RulesFor are to read the paths, for everybody.
func (p AlwaysAllowPaths) RulesFor(*authn.User, string) RuleSet {
	return RuleSet{NonResourceRules: []NonResourceRule{{Verbs: []string{"get", "head"}, Paths: p}}}
}
