package impersonation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/authz"
)

// An Impersonator authorizes impersonation and returns the impersonated users.
type Impersonator struct {
	Authorizer authz.Authorizer
	Naming     *meta.Naming
	// Constrained enables the modes other than legacy.
	Constrained bool
}

type mode string

const (
	associatedNode mode = "associated-node"
	arbitraryNode  mode = "arbitrary-node"
	serviceAccount mode = "serviceaccount"
	userInfo       mode = "user-info"
	legacy         mode = ""
)

// Impersonate returns the impersonated user. constraint is the verb that allowed the impersonation,
// or "" for the verb impersonate. The user is nil if there are no impersonation headers. a is the
// request as made by the caller. The error is a *meta.Status: 400 for invalid headers, or 403 if
// the caller may not impersonate that user.
func (i *Impersonator) Impersonate(a authz.Attributes, headers authn.Headers) (user *authn.User, constraint string, err error) {
	w, err := ExtractRequest(headers, i.Naming)
	if w == nil || err != nil {
		return nil, "", err
	}
	for _, m := range []mode{associatedNode, arbitraryNode, serviceAccount, userInfo, legacy} {
		if !i.applies(m, w, a.User) {
			continue
		}
		failure := i.authorize(m, w, a)
		if failure == nil {
			if m != legacy {
				constraint = m.verb()
			}
			return w.user(m), constraint, nil
		}
		err = cmp.Or(err, failure)
	}
	return nil, "", err
}

func (m mode) verb() string {
	if m == legacy {
		return "impersonate"
	}
	return "impersonate:" + string(m)
}

const (
	nodeNameExtra = "authentication.platform.io/node-name"
	nodeKeysExtra = "authentication.platform.io/associated-node-keys"
)

// applies reports whether a mode applies to the requested user. Only userInfo and legacy allow more
// than a user name.
func (i *Impersonator) applies(m mode, w *Request, caller *authn.User) bool {
	user, single := w.parts[0], len(w.parts) == 1
	if m == legacy || !i.Constrained {
		return m == legacy
	}
	node, isNode := user.node()
	switch m {
	case associatedNode:
		_, isAccount := serviceaccount.ParseUsername(caller.Name)
		return single && isNode && isAccount && slices.Equal(caller.Extra[i.Naming.Translate(nodeNameExtra)], []string{node})
	case arbitraryNode:
		return single && isNode
	case serviceAccount:
		return single && user.kind == kindServiceAccount
	}
	return !isNode && user.kind != kindServiceAccount
}

// authorize returns a *meta.Status if the caller may not impersonate the user in a mode. In mode
// associatedNode, decisions hold for all nodes, so authorizers see the keys of the caller's extras
// instead of the values.
func (i *Impersonator) authorize(m mode, w *Request, a authz.Attributes) error {
	if m == associatedNode {
		caller := *a.User
		caller.Extra = map[string][]string{i.Naming.Translate(nodeKeysExtra): slices.Sorted(maps.Keys(caller.Extra))}
		a.User = &caller
	}
	check := func(asked authz.Attributes) error {
		if decision, reason := i.Authorizer.Authorize(asked); decision != authz.Allow {
			return asked.Forbidden(reason)
		}
		return nil
	}
	if m != legacy {
		a.Verb = "impersonate-on:" + string(m) + ":" + a.Verb
		if err := check(a); err != nil {
			return err
		}
	}
	for _, p := range w.parts {
		asked := i.attributes(m, p)
		asked.User = a.User
		if fault := p.fault(); fault != "" && m != legacy {
			return asked.Forbidden(fault)
		}
		if err := check(asked); err != nil {
			return err
		}
	}
	return nil
}

func (i *Impersonator) attributes(m mode, p part) authz.Attributes {
	a := authz.Attributes{
		Verb: m.verb(), ResourceRequest: true, Version: "v1", Namespace: p.namespace, Name: p.value, Subresource: p.key,
		Resource: [...]string{kindUser: "users", kindServiceAccount: "serviceaccounts", kindGroup: "groups", kindExtra: "userextras", kindUID: "uids"}[p.kind],
	}
	if m != legacy || p.kind == kindExtra || p.kind == kindUID {
		a.Group = i.Naming.Group("authentication")
	}
	if node, ok := p.node(); ok && m != legacy {
		if a.Resource, a.Name = "nodes", node; m == associatedNode {
			a.Name = "*"
		}
	}
	return a
}

func (p part) node() (name string, ok bool) {
	name, ok = strings.CutPrefix(p.value, "system:node:")
	return name, ok && p.kind == kindUser && rules.Subdomain(name) == nil
}

// fault returns the reason why only the legacy mode accepts a value, or "".
func (p part) fault() string {
	switch {
	case p.kind == kindGroup && p.value == "":
		return "impersonating the empty string group is not allowed"
	case p.kind == kindGroup && p.value == authn.GroupMasters:
		return "impersonating the system:masters group is not allowed"
	case p.kind != kindExtra:
		return ""
	case p.key != strings.ToLower(p.key):
		return fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", p.key)
	case p.value == "":
		return "impersonating the empty string value in extra is not allowed"
	}
	for _, f := range rules.DomainPath(p.key) {
		return fmt.Sprintf("impersonating an invalid key in extra is not allowed: extra.key: Invalid value: %q: %s", f.Value, f.Message)
	}
	return ""
}

func (w *Request) user(m mode) *authn.User {
	u := &authn.User{}
	for _, p := range w.parts {
		switch p.kind {
		case kindUser:
			u.Name = p.value
			if _, ok := p.node(); ok && m != legacy {
				u.Groups = []string{authn.GroupNodes}
			}
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
