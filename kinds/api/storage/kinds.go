package storage

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies. User-written kinds return warnings on
// every write. A CSIDriver returns them only when it changes, because installers reapply it.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "storage.platform.io/v1/CSIDriver", Strategy: csiDriverStrategy{}},
		{Name: "storage.platform.io/v1/CSINode", Strategy: schema.KeptStatus{}},
		{Name: "storage.platform.io/v1/CSIStorageCapacity", Strategy: schema.AlwaysWarns{}},
		{Name: "storage.platform.io/v1/StorageClass", Strategy: schema.AlwaysWarns{}},
		{Name: "storage.platform.io/v1/VolumeAttachment", Strategy: schema.KeptStatus{}},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{
	"allowedTopologies": validateAllowedTopologies,
}
