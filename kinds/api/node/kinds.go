package node

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of node with their strategies.
func Kinds(n *meta.Naming) []schema.Behavior {
	return []schema.Behavior{
		{Name: "node.platform.io/v1/RuntimeClass", Strategy: runtimeClassStrategy{labels: warning.NewNodeLabels(n)}},
	}
}
