package authz

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

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

// equal rules allow the same in the same words.
func (r ResourceRule) equal(o ResourceRule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.Groups, o.Groups) && slices.Equal(r.Resources, o.Resources) && slices.Equal(r.Names, o.Names)
}

func (r PathRule) equal(o PathRule) bool {
	return slices.Equal(r.Verbs, o.Verbs) && slices.Equal(r.Paths, o.Paths)
}

// Permissions gathers those of all modes, equal rules once. A mode that cannot list its own
// makes them incomplete.
func (modes union) Permissions(user *authn.User, namespace string) Permissions {
	var all Permissions
	var faults []string
	for _, m := range modes {
		p := Permissions{Incomplete: true}
		if lister, ok := m.(Lister); ok {
			p = lister.Permissions(user, namespace)
		}
		for _, rule := range p.Resources {
			if !slices.ContainsFunc(all.Resources, rule.equal) {
				all.Resources = append(all.Resources, rule)
			}
		}
		for _, rule := range p.Paths {
			if !slices.ContainsFunc(all.Paths, rule.equal) {
				all.Paths = append(all.Paths, rule)
			}
		}
		all.Incomplete = all.Incomplete || p.Incomplete
		if p.Fault != "" {
			faults = append(faults, p.Fault)
		}
	}
	all.Fault = strings.Join(faults, ", ")
	if len(faults) > 1 {
		all.Fault = "[" + all.Fault + "]"
	}
	return all
}

// everything may be done.
func everything() Permissions {
	every := []string{"*"}
	return Permissions{
		Resources: []ResourceRule{{Verbs: every, Groups: every, Resources: every}},
		Paths:     []PathRule{{Verbs: every, Paths: every}},
	}
}

// Permissions are everything for members of system:masters.
func (m Masters) Permissions(user *authn.User, _ string) Permissions {
	if d, _ := m.Authorize(Attributes{User: user}); d != Allow {
		return Permissions{}
	}
	return everything()
}

// Permissions are to read the paths, for everybody.
func (p Paths) Permissions(*authn.User, string) Permissions {
	return Permissions{Paths: []PathRule{{Verbs: []string{"get", "head"}, Paths: p}}}
}
