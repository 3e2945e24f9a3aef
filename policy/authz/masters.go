package authz

import "github.com/troupe-api/troupe/policy/authn"

// Masters allows everything to the members of system:masters or, if UserName is set, only to the
// member with that name.
type Masters struct{ UserName string }

// Authorize has no opinion on other users.
func (m Masters) Authorize(a Attributes) (Decision, string) {
	if a.User != nil && a.User.InGroup(authn.GroupMasters) && (m.UserName == "" || m.UserName == a.User.Name) {
		return Allow, ""
	}
	return NoOpinion, ""
}
