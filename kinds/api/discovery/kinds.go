package discovery

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "discovery.platform.io/v1/EndpointSlice", Strategy: endpointSliceStrategy{}},
	}
}
