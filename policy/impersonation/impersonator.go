package impersonation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/authz"
)

// An Impersonator authorizes impersonation and returns the impersonated users.
type Impersonator struct {
	Authorizer authz.Authorizer
	Naming     *meta.Naming
}

// Impersonate returns the impersonated user, or nil if there are no impersonation headers. The
// error is a *meta.Status: 400 for invalid headers, or 403 if the caller may not impersonate that
// user.
func (i *Impersonator) Impersonate(caller *authn.User, headers authn.Headers) (*authn.User, error) {
	w, err := ExtractRequest(headers, i.Naming)
	if w == nil || err != nil {
		return nil, err
	}
	authentication := i.Naming.Translate("authentication.platform.io")
	for _, p := range w.parts {
		a := p.attributes(authentication)
		a.User = caller
		if decision, reason := i.Authorizer.Authorize(a); decision != authz.Allow {
			return nil, a.Forbidden(reason)
		}
	}
	return w.user(), nil
}

func (p part) attributes(authentication string) authz.Attributes {
	a := authz.Attributes{Verb: "impersonate", ResourceRequest: true, Namespace: p.namespace, Name: p.value}
	switch p.kind {
	case kindUser:
		a.Resource = "users"
	case kindServiceAccount:
		a.Resource = "serviceaccounts"
	case kindGroup:
		a.Resource = "groups"
	case kindExtra:
		a.Group, a.Version, a.Resource, a.Subresource = authentication, "v1", "userextras", p.key
	case kindUID:
		a.Group, a.Version, a.Resource = authentication, "v1", "uids"
	}
	return a
}

func (w *Request) user() *authn.User {
	u := &authn.User{}
	for _, p := range w.parts {
		switch p.kind {
		case kindUser:
			u.Name = p.value
		case kindServiceAccount:
			account := serviceaccount.Account{Namespace: p.namespace, Name: p.value}
			u.Name = account.Username()
			if !w.hasGroups {
				u.Groups = account.Groups()
			}
		case kindGroup:
			u.Groups = append(u.Groups, p.value)
		case kindUID:
			u.UID = p.value
		case kindExtra:
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
