package discovery

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of discovery with their strategies.
func Kinds(n *meta.Naming) []schema.Behavior {
	return []schema.Behavior{
		{Name: "discovery.platform.io/v1/EndpointSlice", Strategy: endpointSliceStrategy{
			addresses: warning.NewAddresses(n), managedBy: n.Translate("endpointslice.platform.io/managed-by"),
			controller: n.Group("endpointslice-controller"), mirror: n.Group("endpointslicemirroring-controller"),
		}},
	}
}
