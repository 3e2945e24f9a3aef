package authn

// Anonymous makes requests that carry no bearer token, and about which next has no
// opinion, those of the user system:anonymous. An unknown token is refused.
func Anonymous(next Authenticator) Authenticator { return anonymous{next} }

type anonymous struct{ next Authenticator }

var anonymousUser = &User{Name: UserAnonymous, Groups: []string{GroupUnauthenticated}}

func (a anonymous) Authenticate(r Request) (*User, error) {
	user, err := a.next.Authenticate(r)
	switch {
	case user != nil || err != nil:
		return user, err
	case r.HasToken:
		return nil, ErrUnknownToken
	}
	return anonymousUser, nil
}
