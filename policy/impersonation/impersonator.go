package impersonation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/authz"
)

// An Impersonator grants wishes.
type Impersonator struct {
	Authorizer authz.Authorizer
	Naming     *meta.Naming
}

// Become is whom caller acts as; nil if the headers ask for nobody. The error is a *meta.Status:
// 400 for a wish that makes no sense, 403 for what caller may not.
func (i *Impersonator) Become(caller *authn.User, headers authn.Headers) (*authn.User, error) {
	w, err := Read(headers, i.Naming)
	if w == nil || err != nil {
		return nil, err
	}
	authentication := i.Naming.Name("authentication.platform.io")
	for _, p := range w.parts {
		a := p.asked(authentication)
		a.User = caller
		if decision, reason := i.Authorizer.Authorize(a); decision != authz.Allow {
			return nil, a.Forbidden(reason)
		}
	}
	return w.user(), nil
}

// asked is what acting as the part needs.
func (p part) asked(authentication string) authz.Attributes {
	a := authz.Attributes{Verb: "impersonate", ResourceRequest: true, Namespace: p.namespace, Name: p.value}
	switch p.sort {
	case ofUser:
		a.Resource = "users"
	case ofAccount:
		a.Resource = "serviceaccounts"
	case ofGroup:
		a.Resource = "groups"
	case ofExtra:
		a.Group, a.Version, a.Resource, a.Subresource = authentication, "v1", "userextras", p.key
	case ofUID:
		a.Group, a.Version, a.Resource = authentication, "v1", "uids"
	}
	return a
}

// user is the one that was asked for.
func (w *Wish) user() *authn.User {
	u := &authn.User{}
	for _, p := range w.parts {
		switch p.sort {
		case ofUser:
			u.Name = p.value
		case ofAccount:
			account := serviceaccount.Account{Namespace: p.namespace, Name: p.value}
			u.Name = account.Username()
			if !w.grouped {
				u.Groups = account.Groups()
			}
		case ofGroup:
			u.Groups = append(u.Groups, p.value)
		case ofUID:
			u.UID = p.value
		case ofExtra:
			if u.Extra == nil {
				u.Extra = map[string][]string{}
			}
			u.Extra[p.key] = append(u.Extra[p.key], p.value)
		}
	}
	implied := authn.GroupAuthenticated
	if u.Name == authn.UserAnonymous {
		implied = authn.GroupUnauthenticated
	}
	if slices.Contains(u.Groups, authn.GroupUnauthenticated) || slices.Contains(u.Groups, implied) {
		return u
	}
	u.Groups = append(u.Groups, implied)
	return u
}
