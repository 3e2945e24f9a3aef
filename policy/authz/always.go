package authz

import "github.com/troupe-api/troupe/policy/authn"

// AlwaysAllow allows everything to everybody.
type AlwaysAllow struct{}

// Authorize implements Authorizer.
func (AlwaysAllow) Authorize(Attributes) (Decision, string) { return Allow, "" }

// RulesFor are everything.
func (AlwaysAllow) RulesFor(*authn.User, string) RuleSet { return allowAllRules() }

// AlwaysDeny denies everything to everybody, whatever modes after it would say.
type AlwaysDeny struct{}

// Authorize implements Authorizer.
func (AlwaysDeny) Authorize(Attributes) (Decision, string) { return Deny, "Everything is forbidden." }

// RulesFor are none.
func (AlwaysDeny) RulesFor(*authn.User, string) RuleSet { return RuleSet{} }
