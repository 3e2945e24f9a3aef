package scheduling

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of scheduling with their strategies.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "scheduling.platform.io/v1/PriorityClass", Strategy: priorityClassStrategy{}},
	}
}
