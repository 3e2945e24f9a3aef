package node

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
)

type runtimeClassStrategy struct {
	family.AlwaysWarns
	labels warning.NodeLabels
}
