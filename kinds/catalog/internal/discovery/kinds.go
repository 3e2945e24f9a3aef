package discovery

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of discovery with their strategies.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "discovery.platform.io/v1/EndpointSlice", Strategy: endpointSliceStrategy{
			addresses: warning.NewAddresses(n), managedBy: n.Translate("endpointslice.platform.io/managed-by"),
			controller: n.Group("endpointslice-controller"), mirror: n.Group("endpointslicemirroring-controller"),
		}},
	}
}
