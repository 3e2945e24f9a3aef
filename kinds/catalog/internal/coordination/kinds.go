package coordination

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of coordination with their functions.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "coordination.platform.io/v1/Lease", Rules: leaseRules()},
	}
}
