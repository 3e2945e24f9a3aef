package authn

import "slices"

// Anonymous authenticates requests as system:anonymous if they have no bearer token and next has no
// opinion. If paths are given, only requests for these paths can be anonymous. An unknown token is
// an error.
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
