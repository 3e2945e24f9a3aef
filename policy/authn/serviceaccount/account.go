package serviceaccount

import (
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// The users and groups of service accounts.
const (
	userPrefix = "system:serviceaccount:"
	Group      = "system:serviceaccounts"
)

// An Account is a service account, as it was when a token for it was signed.
type Account struct{ Namespace, Name, UID string }

// Username is the name of the account as a user.
func (a Account) Username() string { return userPrefix + a.Namespace + ":" + a.Name }

// Groups are all that the account is a member of.
func (a Account) Groups() []string { return []string{Group, Group + ":" + a.Namespace} }

// ParseUsername reads a user name. It finds no UID; ok is false if it is not that of an account.
func ParseUsername(username string) (a Account, ok bool) {
	rest, ok := strings.CutPrefix(username, userPrefix)
	if !ok {
		return a, false
	}
	a.Namespace, a.Name, ok = strings.Cut(rest, ":")
	return a, ok && a.Namespace != "" && a.Name != "" && !strings.Contains(a.Name, ":")
}

// user is the account with no more than what always holds.
func (a Account) user() *authn.User {
	return &authn.User{Name: a.Username(), UID: a.UID, Groups: a.Groups()}
}
