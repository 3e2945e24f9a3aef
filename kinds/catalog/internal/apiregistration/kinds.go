package apiregistration

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of the group with their strategies.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "apiregistration.platform.io/v1/APIService", Strategy: apiServiceStrategy{}},
	}
}
