package authn

// Names of users and groups that the server itself knows.
const (
	UserAnonymous        = "system:anonymous"
	GroupMasters         = "system:masters"
	GroupAuthenticated   = "system:authenticated"
	GroupUnauthenticated = "system:unauthenticated"
)

// A User is who asks. It is immutable and shared between requests.
type User struct {
	Name   string
	UID    string
	Groups []string
	// Extra holds further facts about the user, by key.
	Extra map[string][]string
	// Audiences are those that the credential is for, of those that the Request asked for
	// or, if it asked for none, of the server's own. A method whose credentials name no
	// audience leaves them nil: such a credential is for the server itself.
	Audiences []string
}

// InGroup tells whether the user is a member of group.
func (u *User) InGroup(group string) bool {
	for _, g := range u.Groups {
		if g == group {
			return true
		}
	}
	return false
}
