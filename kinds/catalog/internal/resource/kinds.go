package resource

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/expressions"
)

// Kinds lists the kinds of resource with their functions. selectors checks what selects devices.
func Kinds(selectors *expressions.DeviceSelectors) []family.Kind {
	return []family.Kind{
		{Name: "resource.platform.io/v1/DeviceClass", Rules: deviceClassRules(selectors)},
		{Name: "resource.platform.io/v1/ResourceClaim", Rules: resourceClaimRules(selectors), Views: family.Views{"status": {Write: writeClaimStatus}}},
		{Name: "resource.platform.io/v1/ResourceClaimTemplate", Rules: resourceClaimTemplateRules(selectors)},
		{Name: "resource.platform.io/v1/ResourceSlice", Rules: family.Warn(resourceSliceRules(), warnResourceSlice)},
	}
}
