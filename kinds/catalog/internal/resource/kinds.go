package resource

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/expressions"
)

// Kinds lists the kinds of resource with their strategies. selectors checks what selects devices.
func Kinds(selectors *expressions.DeviceSelectors) []family.Kind {
	return []family.Kind{
		{Name: "resource.platform.io/v1/DeviceClass", Strategy: deviceClassStrategy{selectors: selectors}},
		{Name: "resource.platform.io/v1/ResourceClaim", Strategy: resourceClaimStrategy{selectors: selectors}, Views: family.Views{"status": {Write: writeClaimStatus}}},
		{Name: "resource.platform.io/v1/ResourceClaimTemplate", Strategy: resourceClaimTemplateStrategy{selectors: selectors}},
		{Name: "resource.platform.io/v1/ResourceSlice", Strategy: resourceSliceStrategy{}},
	}
}
