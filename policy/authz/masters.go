package authz

import "github.com/troupe-api/troupe/policy/authn"

// Masters allows everything to the members of system:masters or, if Only is set, to the one of that
// name.
type Masters struct{ UserName string }

// Authorize has no opinion on anybody else.
func (m Masters) Authorize(a Attributes) (Decision, string) {
	if a.User != nil && a.User.InGroup(authn.GroupMasters) && (m.UserName == "" || m.UserName == a.User.Name) {
		return Allow, ""
	}
	return NoOpinion, ""
}
