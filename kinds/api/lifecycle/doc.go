// Package lifecycle declares the kinds of graceful evictions.
package lifecycle

import "github.com/troupe-api/troupe/kinds/schema"

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "lifecycle.platform.io/v1alpha1/Eviction", Strategy: schema.KeptStatus{}},
		{Name: "lifecycle.platform.io/v1alpha1/EvictionRequest", Strategy: schema.KeptStatus{}},
	}
}
