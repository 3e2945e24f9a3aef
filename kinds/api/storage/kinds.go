package storage

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of the group with their strategies. Kinds that users write return warnings
// on every write. A CSIDriver returns warnings only when it changes, because installers apply their
// CSIDrivers repeatedly.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "storage.platform.io/v1/CSIDriver", Strategy: csiDriverStrategy{}},
		{Name: "storage.platform.io/v1/CSIStorageCapacity", Strategy: schema.AlwaysWarns{}},
		{Name: "storage.platform.io/v1/StorageClass", Strategy: schema.AlwaysWarns{}},
		{Name: "storage.platform.io/v1/VolumeAttachment", Strategy: keptStatus{}},
	}
}

type keptStatus struct {
	schema.DefaultStrategy
	schema.KeepStatus
}

// RuleFunctions holds the functions that declared rules call.
var RuleFunctions = map[string]schema.CheckFunc{
	"allowedTopologies": validateAllowedTopologies,
}
