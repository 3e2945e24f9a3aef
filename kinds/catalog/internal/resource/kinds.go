package resource

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of resource with their functions.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "resource.platform.io/v1/DeviceClass", Rules: deviceClassRules()},
		{Name: "resource.platform.io/v1/ResourceClaim", Rules: resourceClaimRules()},
		{Name: "resource.platform.io/v1/ResourceClaimTemplate", Rules: resourceClaimTemplateRules()},
		{Name: "resource.platform.io/v1/ResourceSlice", Rules: family.Warn(resourceSliceRules(), warnResourceSlice)},
	}
}
