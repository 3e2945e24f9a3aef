package authz

import "github.com/troupe-api/troupe/policy/authn"

// Masters allows everything to members of the group system:masters. If UserName is set, it applies
// only to the member with this name.
type Masters struct{ UserName string }

func (m Masters) Authorize(a Attributes) (Decision, string) {
	if a.User != nil && a.User.InGroup(authn.GroupMasters) && (m.UserName == "" || m.UserName == a.User.Name) {
		return Allow, ""
	}
	return NoOpinion, ""
}
