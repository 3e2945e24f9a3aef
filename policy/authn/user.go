package authn

import (
	"net/url"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Names of users and groups that the server itself knows.
const (
	UserAnonymous        = "system:anonymous"
	GroupMasters         = "system:masters"
	GroupNodes           = "system:nodes"
	GroupAuthenticated   = "system:authenticated"
	GroupUnauthenticated = "system:unauthenticated"
)

// A User is the authenticated sender of a request.
type User = request.User

// withEarlierExpiry returns u with the earlier expiry of the two, for credentials that need each other.
func withEarlierExpiry(u, other *User) *User {
	if other.ValidUntil.IsZero() || !u.ValidUntil.IsZero() && u.ValidUntil.Before(other.ValidUntil) {
		return u
	}
	shorter := *u
	shorter.ValidUntil = other.ValidUntil
	return &shorter
}

// ReadUser reads a user as reviews show it, with its name in the field called name, which is
// "username" in answers and "user" in questions.
func ReadUser(t tree.Tree, name string) *User {
	u := &User{Name: t.String(name), UID: t.String("uid"), Groups: t.Strings("groups")}
	if extra := t.Object("extra"); len(extra) > 0 {
		u.Extra = make(map[string][]string, len(extra))
		for key := range extra {
			u.Extra[key] = extra.Strings(key)
		}
	}
	return u
}

// ExtraKey is the key of an extra that stands, percent-encoded, in the name of a header; as it
// is, if it cannot be decoded. encoded is in lower case.
func ExtraKey(encoded string) string {
	if key, err := url.PathUnescape(encoded); err == nil {
		return key
	}
	return encoded
}
