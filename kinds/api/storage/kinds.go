package storage

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of storage with their strategies. Kinds that users write return warnings on
// every write. A CSIDriver returns warnings only when it changes, because installers apply their
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

// RuleFunctions maps the function names in declared rules to functions.
var RuleFunctions = map[string]schema.CheckFunc{
	"allowedTopologies": validateAllowedTopologies,
}
