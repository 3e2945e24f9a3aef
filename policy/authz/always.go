package authz

import "github.com/troupe-api/troupe/policy/authn"

// AlwaysAllow allows everything.
type AlwaysAllow struct{}

// Authorize returns Allow.
func (AlwaysAllow) Authorize(Attributes) (Decision, string) { return Allow, "" }

// RulesFor returns all rules.
func (AlwaysAllow) RulesFor(*authn.User, string) RuleSet { return allowAllRules() }

// AlwaysDeny denies everything, regardless of later modes.
type AlwaysDeny struct{}

// Authorize returns Deny.
func (AlwaysDeny) Authorize(Attributes) (Decision, string) { return Deny, "Everything is forbidden." }

// RulesFor returns no rules.
func (AlwaysDeny) RulesFor(*authn.User, string) RuleSet { return RuleSet{} }
