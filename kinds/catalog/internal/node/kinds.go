package node

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of node with their strategies.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "node.platform.io/v1/RuntimeClass", Strategy: runtimeClassStrategy{labels: warning.NewNodeLabels(n)}},
	}
}
