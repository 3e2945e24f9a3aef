package present

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// priorities lists groups, as in the platform profile, in the order in which clients look for a resource
// that they know by its short name only. Groups that are missing here come last.
var priorities = []string{
	"", "apiregistration.platform.io", "apps", "events.platform.io", "authentication.platform.io", "authorization.platform.io",
	"autoscaling", "batch", "certificates.platform.io", "networking.platform.io", "policy", "rbac.authorization.platform.io",
	"storage.platform.io", "admissionregistration.platform.io", "apiextensions.platform.io", "scheduling.platform.io",
	"coordination.platform.io", "node.platform.io", "discovery.platform.io", "resource.platform.io",
}

// byPriority sorts groups into the order of discovery.
func byPriority(n *meta.Naming, groups []*group) {
	rank := make(map[string]int, len(priorities))
	for i, name := range priorities {
		rank[n.Translate(name)] = i - len(priorities)
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(rank[a.name], rank[b.name]), strings.Compare(a.name, b.name))
	})
}
