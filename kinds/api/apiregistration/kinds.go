package apiregistration

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "apiregistration.platform.io/v1/APIService", Strategy: apiServiceStrategy{}},
	}
}
