package authn

import (
	"net/url"
	"time"

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

// A User is the authenticated sender of a request. It is immutable and shared between requests.
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
	// ValidUntil is when the credential ends by itself, or must be checked again: whoever has let its
	// user in for longer has to ask again then. The zero time stands for never.
	ValidUntil time.Time
}

// withEarlierExpiry is the user with the earlier of two times of expiry, for credentials that need
// each other.
func (u *User) withEarlierExpiry(other *User) *User {
	if other.ValidUntil.IsZero() || !u.ValidUntil.IsZero() && u.ValidUntil.Before(other.ValidUntil) {
		return u
	}
	shorter := *u
	shorter.ValidUntil = other.ValidUntil
	return &shorter
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

// Tree is the user as reviews and certificate requests show it.
func (u *User) Tree() tree.Tree {
	t := tree.Tree{"username": u.Name}
	if u.UID != "" {
		t["uid"] = u.UID
	}
	if len(u.Groups) > 0 {
		t["groups"] = tree.ListOf(u.Groups)
	}
	if len(u.Extra) > 0 {
		extra := tree.Tree{}
		for key, values := range u.Extra {
			extra[key] = tree.ListOf(values)
		}
		t["extra"] = extra
	}
	return t
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
