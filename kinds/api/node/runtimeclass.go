package node

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/schema"
)

type runtimeClassStrategy struct {
	schema.AlwaysWarns
	labels warning.NodeLabels
}
