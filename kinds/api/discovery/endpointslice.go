package discovery

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// endpointSliceStrategy keeps no status: slices have none.
type endpointSliceStrategy struct {
	schema.AlwaysWarns
	addresses                     warning.Addresses
	managedBy, controller, mirror string // the label, and its values for copies
}

func (endpointSliceStrategy) CountedMetadata() string { return "labels" }

// Prepare drops deprecatedTopology, which only older API versions could write.
func (endpointSliceStrategy) Prepare(obj, _ tree.Tree) {
	for _, e := range obj.Objects("endpoints") {
		delete(e, "deprecatedTopology")
	}
}
