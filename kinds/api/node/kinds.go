package node

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "node.platform.io/v1/RuntimeClass", Strategy: schema.AlwaysWarns{}},
	}
}
