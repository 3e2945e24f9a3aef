package discovery

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of discovery with their functions.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "discovery.platform.io/v1/EndpointSlice", Rules: endpointSliceRules()},
	}
}
