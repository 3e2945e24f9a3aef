package discovery

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of discovery with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "discovery.platform.io/v1/EndpointSlice", Rules: family.Warn(endpointSliceRules(), sliceWarnings(n))},
	}
}
