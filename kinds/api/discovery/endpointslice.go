package discovery

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type endpointSliceStrategy struct{ schema.AlwaysWarns }

func (endpointSliceStrategy) CountedMetadata() string { return "labels" }

// Prepare drops deprecatedTopology, which only older API versions supported.
func (endpointSliceStrategy) Prepare(obj, _ tree.Tree) {
	for _, e := range obj.Objects("endpoints") {
		delete(e, "deprecatedTopology")
	}
}
