package storage

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of storage with their strategies. Kinds written by users warn in every
// write; a CSIDriver, which its installer reapplies, only about changes.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "storage.platform.io/v1/CSIDriver", Strategy: csiDriverStrategy{}},
		{Name: "storage.platform.io/v1/CSIStorageCapacity", Strategy: schema.AlwaysWarns{}},
		{Name: "storage.platform.io/v1/StorageClass", Strategy: schema.AlwaysWarns{}},
		{Name: "storage.platform.io/v1/VolumeAttachment", Strategy: keptStatus{}},
	}
}

// keptStatus is the strategy of kinds whose status only the subresource writes.
type keptStatus struct {
	schema.DefaultStrategy
	schema.KeepStatus
}

// RuleFunctions are the functions that declared rules call.
var RuleFunctions = map[string]schema.CheckFunc{
	"allowedTopologies": validateAllowedTopologies,
}
