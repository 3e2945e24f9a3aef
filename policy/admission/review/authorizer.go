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

// An Authorizer authorizes one user for expressions and caches decisions. It belongs to one request
// and one goroutine.
type Authorizer struct {
	user  *authn.User
	by    authz.Authorizer
	known map[string]authorization // nil until used
}

var _ cel.Authorizer = (*Authorizer)(nil)

// An authorization is a cached decision.
type authorization struct {
	allowed bool
	reason  string
	err     error
}

// NewAuthorizer returns the Authorizer of a user.
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

// ask distinguishes a failed authorizer from a denial, as expressions can. Expressions name no
// version, so it uses "*".
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

// ServiceAccount returns the Authorizer of a service account, with its groups but without extra
// attributes.
func (u *Authorizer) ServiceAccount(namespace, name string) cel.Authorizer {
	account := serviceaccount.Account{Namespace: namespace, Name: name}
	return NewAuthorizer(&authn.User{Name: account.Username(), Groups: account.Groups()}, u.by)
}

// selectors returns the selectors of an access, or nil. An invalid one does not narrow it, so the
// check is stricter than intended.
func selectors(a cel.Access) *authz.Selectors {
	if len(a.Fields) == 0 && len(a.Labels) == 0 {
		return nil
	}
	return &authz.Selectors{Fields: a.Fields, Labels: a.Labels}
}

// Access returns the access that a request needs.
func Access(a *request.Attributes) cel.Access {
	return cel.Access{
		Group: a.Kind.Group, Resource: a.Kind.Resource, Subresource: a.Subresource, Namespace: a.Key.Namespace, Name: a.Key.Name,
	}
}
