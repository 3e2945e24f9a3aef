package authn

import (
	"net/url"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Users and groups with special meaning to the server.
const (
	UserAnonymous        = "system:anonymous"
	GroupMasters         = "system:masters"
	GroupNodes           = "system:nodes"
	GroupAuthenticated   = "system:authenticated"
	GroupUnauthenticated = "system:unauthenticated"
)

// A User is the authenticated sender of a request.
type User = request.User

// withEarlierExpiry returns u with the earlier of both expiries, for credentials that depend on
// each other.
func withEarlierExpiry(u, other *User) *User {
	if other.ValidUntil.IsZero() || !u.ValidUntil.IsZero() && u.ValidUntil.Before(other.ValidUntil) {
		return u
	}
	shorter := *u
	shorter.ValidUntil = other.ValidUntil
	return &shorter
}

// ReadUser decodes the user of a review, whose name is in the field name: "username" in a status
// and "user" in a spec.
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

// ExtraKey returns the key of an extra that is percent-encoded in the lower-case name of a header,
// or encoded itself if it is invalid.
func ExtraKey(encoded string) string {
	if key, err := url.PathUnescape(encoded); err == nil {
		return key
	}
	return encoded
}
