package authn

import (
	"net/url"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Users and groups with a special meaning in Kubernetes.
const (
	UserAnonymous        = "system:anonymous"
	GroupMasters         = "system:masters"
	GroupMonitoring      = "system:monitoring"
	GroupNodes           = "system:nodes"
	GroupAuthenticated   = "system:authenticated"
	GroupUnauthenticated = "system:unauthenticated"
)

// A User is the authenticated user of a request.
type User = request.User

// withEarlierExpiry returns u with the earlier of both users' expiry times. A request with two
// credentials is valid only as long as both are.
func withEarlierExpiry(u, other *User) *User {
	if other.ValidUntil.IsZero() || !u.ValidUntil.IsZero() && u.ValidUntil.Before(other.ValidUntil) {
		return u
	}
	shorter := *u
	shorter.ValidUntil = other.ValidUntil
	return &shorter
}

// ReadUser decodes the user in a review. name is the field that contains the user name: "username"
// in a TokenReview status, "user" in a SubjectAccessReview spec.
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

// ExtraKey decodes the percent-encoded key in the lower-case name of an extra header. An invalid
// encoding is returned unchanged.
func ExtraKey(encoded string) string {
	if key, err := url.PathUnescape(encoded); err == nil {
		return key
	}
	return encoded
}
