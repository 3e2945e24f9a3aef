package authz

import "github.com/troupe-api/troupe/policy/authn"

// AlwaysAllow allows every request.
type AlwaysAllow struct{}

func (AlwaysAllow) Authorize(Attributes) (Decision, string) { return Allow, "" }

func (AlwaysAllow) RulesFor(*authn.User, string) RuleSet { return allowAllRules() }

// AlwaysDeny denies every request. Later modes are not tried.
type AlwaysDeny struct{}

func (AlwaysDeny) Authorize(Attributes) (Decision, string) { return Deny, "Everything is forbidden." }

func (AlwaysDeny) RulesFor(*authn.User, string) RuleSet { return RuleSet{} }
