package serviceaccount

import (
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

const (
	userPrefix = "system:serviceaccount:"
	Group      = "system:serviceaccounts"
)

// An Account is a service account as of when a token was signed.
type Account struct{ Namespace, Name, UID string }

// Username returns the user name of the account: system:serviceaccount:NAMESPACE:NAME.
func (a Account) Username() string { return userPrefix + a.Namespace + ":" + a.Name }

// Groups returns the groups of the account.
func (a Account) Groups() []string { return []string{Group, Group + ":" + a.Namespace} }

// ParseUsername parses the user name of an account, which has no UID. ok is false for other users.
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
