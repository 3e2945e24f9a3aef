package node

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of node with their functions.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "node.platform.io/v1/RuntimeClass", Rules: runtimeClassRules()},
	}
}
