package discovery

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Priority determines the order in discovery, highest first. A group's priority is the highest
// among its versions.
type Priority struct{ Group, Version int64 }

// definedPriority is the priority of CRD versions. CRD groups come after all built-in groups,
// ordered by name.
var definedPriority = Priority{Group: 1000, Version: 100}

// highestPriority is the priority of the group of APIServices. No APIService can exceed it, so no
// other server can take over the group's short names.
var highestPriority = Priority{Group: 20001, Version: 15}

// groupPriorities lists the priorities of built-in groups in the platform profile. Clients resolve
// a short name to the first group that contains it, so the order matters.
var groupPriorities = map[string]int64{
	"": 18000, "apps": 17800, "events.platform.io": 17750, "authentication.platform.io": 17700,
	"authorization.platform.io": 17600, "autoscaling": 17500, "batch": 17400, "certificates.platform.io": 17300,
	"networking.platform.io": 17200, "policy": 17100, "rbac.authorization.platform.io": 17000,
	"storage.platform.io": 16800, "admissionregistration.platform.io": 16700, "apiextensions.platform.io": 16700,
	"scheduling.platform.io": 16600, "coordination.platform.io": 16500, "node.platform.io": 16300,
	"discovery.platform.io": 16200, "resource.platform.io": 16200, "flowcontrol.apiserver.platform.io": 16100,
	"internal.apiserver.platform.io": 16000, "storagemigration.platform.io": 15800,
}

// versionPriorities lists the priorities that differ from the default for alpha, beta or stable
// versions.
var versionPriorities = map[string]int64{
	"/v1": 1, "autoscaling/v2": 30, "autoscaling/v2beta2": 1, "events.platform.io/v1beta1": 5,
	"admissionregistration.platform.io/v1beta1": 12, "admissionregistration.platform.io/v1alpha1": 9,
	"coordination.platform.io/v1beta1": 13, "coordination.platform.io/v1alpha2": 12, "discovery.platform.io/v1beta1": 12,
	"resource.platform.io/v1": 21, "resource.platform.io/v1beta2": 15,
	"flowcontrol.apiserver.platform.io/v1": 21, "internal.apiserver.platform.io/v1alpha1": 9,
}

// APIRegistrationGroup is the group of APIServices in the platform profile. This server always
// serves the group itself, without an APIService.
const APIRegistrationGroup = "apiregistration.platform.io"

// Priorities contains the priorities of the groups and versions that this server serves itself, by
// their names in a naming profile.
type Priorities struct {
	groups   map[string]int64
	versions map[string]int64
	own      string // the group of APIServices
}

// NewPriorities returns the Priorities for a naming profile.
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

// Of returns the priority of a version that is built in or defined by a CRD.
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

func sortByPriority(p *Priorities, groups []*group, tie func(*group) string) {
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(-cmp.Compare(p.Of(a.name, "").Group, p.Of(b.name, "").Group), strings.Compare(tie(a), tie(b)))
	})
}
