package authn

import "slices"

// Anonymous authenticates requests without a bearer token, on which next has no opinion, as
// system:anonymous. If paths are given, only requests for exactly one of them qualify. An unknown
// token is an error.
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
