package authz

import "github.com/troupe-api/troupe/policy/authn"

// Masters allows everything to the members of system:masters.
type Masters struct{}

// Authorize has no opinion on anybody else.
func (Masters) Authorize(a Attributes) (Decision, string) {
	if a.User != nil && a.User.InGroup(authn.GroupMasters) {
		return Allow, ""
	}
	return NoOpinion, ""
}
