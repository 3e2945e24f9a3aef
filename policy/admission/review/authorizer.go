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

// An Authorizer decides what one user may do, for expressions. It asks for each access once. It lives for
// one request and is used by one goroutine, so several expressions that ask the same share the answer.
type Authorizer struct {
	user  *authn.User
	by    authz.Authorizer
	known map[string]authorization // nil until something is asked
}

var _ cel.Authorizer = (*Authorizer)(nil)

// An authorization is an answer.
type authorization struct {
	allowed bool
	reason  string
	err     error
}

// NewAuthorizer makes the Authorizer of a user.
func NewAuthorizer(user *authn.User, by authz.Authorizer) *Authorizer {
	return &Authorizer{user: user, by: by}
}

// Authorize implements cel.Authorizer.
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

// An authorizer that failed is an error and not a refusal, which expressions can tell apart. Expressions name no version,
// so it is asked for any, "*".
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

// ServiceAccount implements cel.Authorizer. The account is asked about as it would authenticate, with its
// groups but without further attributes.
func (u *Authorizer) ServiceAccount(namespace, name string) cel.Authorizer {
	account := serviceaccount.Account{Namespace: namespace, Name: name}
	return NewAuthorizer(&authn.User{Name: account.Username(), Groups: account.Groups()}, u.by)
}

// selectors narrow an access; nil if nothing does. One that could not be read narrows nothing, so that more is asked for
// than is meant.
func selectors(a cel.Access) *authz.Selectors {
	if len(a.Fields) == 0 && len(a.Labels) == 0 {
		return nil
	}
	return &authz.Selectors{Fields: a.Fields, Labels: a.Labels}
}

// Access is to what a request is about.
func Access(a *request.Attributes) cel.Access {
	return cel.Access{
		Group: a.Kind.Group, Resource: a.Kind.Resource, Subresource: a.Subresource, Namespace: a.Key.Namespace, Name: a.Key.Name,
	}
}
