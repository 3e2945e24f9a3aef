package authz

import "github.com/troupe-api/troupe/policy/authn"

// AlwaysAllow allows everything to everybody.
type AlwaysAllow struct{}

// Authorize implements Authorizer.
func (AlwaysAllow) Authorize(Attributes) (Decision, string) { return Allow, "" }

// Permissions are everything.
func (AlwaysAllow) Permissions(*authn.User, string) Permissions { return everything() }

// AlwaysDeny allows nothing. Modes after it may still allow.
type AlwaysDeny struct{}

// Authorize implements Authorizer.
func (AlwaysDeny) Authorize(Attributes) (Decision, string) {
	return NoOpinion, "Everything is forbidden."
}

// Permissions are none.
func (AlwaysDeny) Permissions(*authn.User, string) Permissions { return Permissions{} }
