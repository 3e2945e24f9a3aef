package resource

import (
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies. selectors compiles device selectors.
// message looks up a Declaration by name.
func Kinds(selectors *expressions.DeviceSelectors, message func(name string) *schema.Declaration) []schema.Behavior {
	claims := resourceClaimStrategy{selectors: selectors, claim: message("resource.v1.ResourceClaim")}
	return []schema.Behavior{
		{Name: "resource.platform.io/v1/DeviceClass", Strategy: deviceClassStrategy{selectors: selectors}},
		{Name: "resource.platform.io/v1/DeviceTaintRule", Strategy: deviceTaintRuleStrategy{}},
		{Name: "resource.platform.io/v1/ResourceClaim", Strategy: claims, Views: schema.Views{"status": {Write: claims.writeStatus}}},
		{Name: "resource.platform.io/v1/ResourceClaimTemplate", Strategy: resourceClaimTemplateStrategy{selectors: selectors}},
		{Name: "resource.platform.io/v1/ResourceSlice", Strategy: schema.AlwaysWarns{}},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{
	"attributeName": schema.TextCheck(validateAttributeName),
	"deviceAddress": schema.TextCheck(validateDeviceAddress),
	"poolName":      schema.TextCheck(validatePoolName),
}
