package authz

import "github.com/troupe-api/troupe/policy/authn"

// AlwaysAllow allows everything to everybody.
type AlwaysAllow struct{}

// Authorize implements Authorizer.
func (AlwaysAllow) Authorize(Attributes) (Decision, string) { return Allow, "" }

// Permissions are everything.
func (AlwaysAllow) Permissions(*authn.User, string) Permissions { return everything() }

// AlwaysDeny denies everything to everybody, whatever modes after it would say.
type AlwaysDeny struct{}

// Authorize implements Authorizer.
func (AlwaysDeny) Authorize(Attributes) (Decision, string) { return Deny, "Everything is forbidden." }

// Permissions are none.
func (AlwaysDeny) Permissions(*authn.User, string) Permissions { return Permissions{} }
