package authn

import "slices"

// Anonymous makes requests that carry no bearer token, and about which next has no
// opinion, those of the user system:anonymous: all of them or, if paths are given, those for
// exactly one of these. An unknown token is refused.
func Anonymous(next Authenticator, paths ...string) Authenticator { return anonymous{next, paths} }

type anonymous struct {
	next  Authenticator
	paths []string
}

var anonymousUser = &User{Name: UserAnonymous, Groups: []string{GroupUnauthenticated}}

func (a anonymous) Authenticate(r Request) (*User, error) {
	user, err := a.next.Authenticate(r)
	switch {
	case user != nil || err != nil:
		return user, err
	case r.HasToken:
		return nil, ErrUnknownToken
	case len(a.paths) > 0 && !slices.Contains(a.paths, r.Path):
		return nil, nil
	}
	return anonymousUser, nil
}
