package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/authz"
)

// An Authorizer makes and caches authorization decisions for one user's expressions. It is not safe
// for concurrent use.
type Authorizer struct {
	user  *authn.User
	by    authz.Authorizer
	known map[string]authorization // nil until used
}

var _ cel.Authorizer = (*Authorizer)(nil)

type authorization struct {
	allowed bool
	reason  string
	err     error
}

// NewAuthorizer returns an Authorizer for a user. It delegates decisions to by.
func NewAuthorizer(user *authn.User, by authz.Authorizer) *Authorizer {
	return &Authorizer{user: user, by: by}
}

func (u *Authorizer) Authorize(_ context.Context, a cel.Access) (allowed bool, reason string, err error) {
	key := fmt.Sprintf("%q", []any{a.Verb, a.Path, a.Group, a.Resource, a.Subresource, a.Namespace, a.Name, a.Fields, a.Labels})
	answer, ok := u.known[key]
	if !ok {
		answer = u.ask(a)
		if u.known == nil {
			u.known = map[string]authorization{}
		}
		u.known[key] = answer
	}
	return answer.allowed, answer.reason, answer.err
}

// ask authorizes an access. It reports a failed authorization as an error rather than a denial,
// because expressions can distinguish the two. Expressions specify no API version, so ask uses "*".
func (u *Authorizer) ask(a cel.Access) authorization {
	asked := authz.Attributes{User: u.user, Verb: a.Verb, Path: a.Path}
	if a.Path == "" {
		asked = authz.Attributes{
			User: u.user, Verb: a.Verb, ResourceRequest: true, Group: a.Group, Version: "*", Resource: a.Resource,
			Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name, Selectors: selectors(a),
		}
	}
	switch d, reason := u.by.Authorize(asked); d {
	case authz.Allow:
		return authorization{allowed: true, reason: reason}
	case authz.Failed:
		return authorization{err: errors.New(reason)}
	default:
		return authorization{reason: reason}
	}
}

// ServiceAccount returns an Authorizer for a service account, with the account's groups but no
// extra attributes.
func (u *Authorizer) ServiceAccount(namespace, name string) cel.Authorizer {
	account := serviceaccount.Account{Namespace: namespace, Name: name}
	return NewAuthorizer(&authn.User{Name: account.Username(), Groups: account.Groups()}, u.by)
}

func selectors(a cel.Access) *authz.Selectors {
	if len(a.Fields) == 0 && len(a.Labels) == 0 {
		return nil
	}
	return &authz.Selectors{Fields: a.Fields, Labels: a.Labels}
}

// Access returns a request's authorization attributes without the verb.
func Access(a *request.Attributes) cel.Access {
	return cel.Access{
		Group: a.Kind.Group, Resource: a.Kind.Resource, Subresource: a.Subresource, Namespace: a.Key.Namespace, Name: a.Key.Name,
	}
}
