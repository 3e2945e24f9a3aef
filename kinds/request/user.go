package request

import (
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A User is the authenticated user of a request. It is immutable and shared between requests.
type User struct {
	Name   string
	UID    string
	Groups []string
	// Extra contains additional attributes by key.
	Extra map[string][]string
	// Audiences lists the audiences of the credential that the caller accepts, by default the
	// server's own. It is nil if the credential names no audiences and is meant for the server.
	Audiences []string
	// ValidUntil is the time at which the credential expires or must be checked again. Zero means
	// never.
	ValidUntil time.Time
}

// InGroup reports whether the user is a member of group.
func (u *User) InGroup(group string) bool { return slices.Contains(u.Groups, group) }

// Tree returns the user as represented in reviews and certificate requests.
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
