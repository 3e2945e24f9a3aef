package serviceaccount

import (
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

const (
	userPrefix = "system:serviceaccount:"
	Group      = "system:serviceaccounts"
)

// An Account identifies the service account for which a token was signed.
type Account struct{ Namespace, Name, UID string }

// Username returns the user name of the account, system:serviceaccount:<namespace>:<name>.
func (a Account) Username() string { return userPrefix + a.Namespace + ":" + a.Name }

// Groups returns the group of all service accounts and the group for the account's namespace.
func (a Account) Groups() []string { return []string{Group, Group + ":" + a.Namespace} }

// ParseUsername returns the account with this user name, without its UID. ok is false if the user
// is not a service account.
func ParseUsername(username string) (a Account, ok bool) {
	rest, ok := strings.CutPrefix(username, userPrefix)
	if !ok {
		return a, false
	}
	a.Namespace, a.Name, ok = strings.Cut(rest, ":")
	return a, ok && a.Namespace != "" && a.Name != "" && !strings.Contains(a.Name, ":")
}

func (a Account) user() *authn.User {
	return &authn.User{Name: a.Username(), UID: a.UID, Groups: a.Groups()}
}
