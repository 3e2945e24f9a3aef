package authn

// Authenticated adds the group system:authenticated to each user from next, except anonymous ones.
func Authenticated(next Authenticator) Authenticator { return authenticated{next} }

type authenticated struct{ next Authenticator }

func (a authenticated) Authenticate(r Request) (*User, error) {
	user, err := a.next.Authenticate(r)
	if user == nil || err != nil {
		return nil, err
	}
	if user.Name == UserAnonymous || user.InGroup(GroupAuthenticated) || user.InGroup(GroupUnauthenticated) {
		return user, nil
	}
	if r.ConnCache != nil && r.ConnCache.authenticated.base == user {
		return r.ConnCache.authenticated.user, nil
	}
	member := *user
	member.Groups = append(user.Groups[:len(user.Groups):len(user.Groups)], GroupAuthenticated)
	if r.ConnCache != nil {
		r.ConnCache.authenticated = authenticatedUser{user, &member}
	}
	return &member, nil
}

// An authenticatedUser caches the original user and the copy with the group that Authenticated
// adds.
type authenticatedUser struct{ base, user *User }
