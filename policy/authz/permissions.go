package authz

import "github.com/troupe-api/troupe/policy/authn"

// A Lister is an Authorizer that can list what it allows, as far as no other mode denies it.
type Lister interface {
	Authorizer
	// Permissions are what user may do in a namespace.
	Permissions(user *authn.User, namespace string) Permissions
}

// Permissions are what a user may do.
type Permissions struct {
	Resources []ResourceRule
	Paths     []PathRule
	// Incomplete: there may be more. Fault says why, for clients; it may be "".
	Incomplete bool
	Fault      string
}

// A ResourceRule allows verbs on resources of groups; "*" stands for all. Without Names it
// is about all objects.
type ResourceRule struct{ Verbs, Groups, Resources, Names []string }

// A PathRule allows verbs on paths that are no resources; "*" ends one that stands for all
// that begin so.
type PathRule struct{ Verbs, Paths []string }

// Permissions gathers those of all modes. One that cannot list its own makes them incomplete.
func (modes union) Permissions(user *authn.User, namespace string) Permissions {
	var all Permissions
	for _, m := range modes {
		p := Permissions{Incomplete: true}
		if lister, ok := m.(Lister); ok {
			p = lister.Permissions(user, namespace)
		}
		all.Resources = append(all.Resources, p.Resources...)
		all.Paths = append(all.Paths, p.Paths...)
		all.Incomplete = all.Incomplete || p.Incomplete
		if p.Fault != "" && all.Fault != "" {
			all.Fault += ", "
		}
		all.Fault += p.Fault
	}
	return all
}

// Permissions are everything for members of system:masters.
func (m Masters) Permissions(user *authn.User, _ string) Permissions {
	if d, _ := m.Authorize(Attributes{User: user}); d != Allow {
		return Permissions{}
	}
	every := []string{"*"}
	return Permissions{
		Resources: []ResourceRule{{Verbs: every, Groups: every, Resources: every}},
		Paths:     []PathRule{{Verbs: every, Paths: every}},
	}
}

// Permissions are to read the paths, for everybody.
func (p Paths) Permissions(*authn.User, string) Permissions {
	return Permissions{Paths: []PathRule{{Verbs: []string{"get", "head"}, Paths: p}}}
}
