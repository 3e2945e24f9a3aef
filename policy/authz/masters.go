package authz

import "github.com/troupe-api/troupe/policy/authn"

// Masters allows everything to members of system:masters, or only to the member UserName if set.
type Masters struct{ UserName string }

// Authorize has no opinion on other users.
func (m Masters) Authorize(a Attributes) (Decision, string) {
	if a.User != nil && a.User.InGroup(authn.GroupMasters) && (m.UserName == "" || m.UserName == a.User.Name) {
		return Allow, ""
	}
	return NoOpinion, ""
}
