package node

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
)

// The handler of a class is immutable by its declaration, for running Pods refer to the class and not to the handler.
type runtimeClassStrategy struct {
	family.AlwaysWarns
	labels warning.NodeLabels
}
