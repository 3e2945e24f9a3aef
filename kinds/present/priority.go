package present

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Priority says where a version of a group stands in discovery: groups of a higher priority come first, and
// within a group versions of a higher one. A group has the highest priority that any of its versions gives it.
type Priority struct{ Group, Version int64 }

// definedPriority is that of the versions of definitions: they come after all built-in ones, and among themselves in
// the order of their names.
var definedPriority = Priority{Group: 1000, Version: 100}

// highestPriority is that of the group of APIServices, above all that an APIService may ask for: so no other
// server can take its short names away.
var highestPriority = Priority{Group: 20001, Version: 15}

// groupPriorities are those of built-in groups, as in the platform profile. Clients that know a resource by its short
// name only take the first group that has it.
var groupPriorities = map[string]int64{
	"": 18000, "apps": 17800, "events.platform.io": 17750, "authentication.platform.io": 17700,
	"authorization.platform.io": 17600, "autoscaling": 17500, "batch": 17400, "certificates.platform.io": 17300,
	"networking.platform.io": 17200, "policy": 17100, "rbac.authorization.platform.io": 17000,
	"storage.platform.io": 16800, "admissionregistration.platform.io": 16700, "apiextensions.platform.io": 16700,
	"scheduling.platform.io": 16600, "coordination.platform.io": 16500, "node.platform.io": 16300,
	"discovery.platform.io": 16200, "resource.platform.io": 16200, "flowcontrol.apiserver.platform.io": 16100,
	"internal.apiserver.platform.io": 16000, "storagemigration.platform.io": 15800,
}

// versionPriorities are those that differ from what the stability of a version says.
var versionPriorities = map[string]int64{
	"/v1": 1, "autoscaling/v2": 30, "autoscaling/v2beta2": 1, "events.platform.io/v1beta1": 5,
	"admissionregistration.platform.io/v1beta1": 12, "admissionregistration.platform.io/v1alpha1": 9,
	"coordination.platform.io/v1beta1": 13, "coordination.platform.io/v1alpha2": 12, "discovery.platform.io/v1beta1": 12,
	"resource.platform.io/v1": 21, "resource.platform.io/v1beta2": 15,
	"flowcontrol.apiserver.platform.io/v1": 21, "internal.apiserver.platform.io/v1alpha1": 9,
}

// APIRegistrationGroup is the group of APIServices, in platform form. It is always served by this server, and has
// no APIService of its own.
const APIRegistrationGroup = "apiregistration.platform.io"

// Priorities knows the priorities of what this server itself serves, under the names of a profile.
type Priorities struct {
	groups   map[string]int64
	versions map[string]int64
	own      string // the group of APIServices
}

// NewPriorities makes the Priorities of a profile.
func NewPriorities(n *meta.Naming) *Priorities {
	p := &Priorities{groups: map[string]int64{}, versions: map[string]int64{}, own: n.Translate(APIRegistrationGroup)}
	for group, priority := range groupPriorities {
		p.groups[n.Translate(group)] = priority
	}
	for name, priority := range versionPriorities {
		group, version, _ := strings.Cut(name, "/")
		p.versions[n.Translate(group)+"/"+version] = priority
	}
	return p
}

// Of is the priority of a version that is served here: of a built-in group, or of a definition.
func (p *Priorities) Of(group, version string) Priority {
	if group == p.own {
		return highestPriority
	}
	of, builtIn := p.groups[group]
	if !builtIn {
		return definedPriority
	}
	if v, ok := p.versions[group+"/"+version]; ok {
		return Priority{of, v}
	}
	switch {
	case strings.Contains(version, "alpha"):
		return Priority{of, 1}
	case strings.Contains(version, "beta"):
		return Priority{of, 9}
	}
	return Priority{of, 15}
}

// sortByPriority sorts groups by their priorities. tie orders those of the same one.
func sortByPriority(p *Priorities, groups []*group, tie func(*group) string) {
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(-cmp.Compare(p.Of(a.name, "").Group, p.Of(b.name, "").Group), strings.Compare(tie(a), tie(b)))
	})
}
