package coordination

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of coordination with their strategies.
//
// LeaseCandidates are not among them, though the default roles name them for components that look for them.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "coordination.platform.io/v1/Lease", Strategy: leaseStrategy{}},
	}
}
