package storagemigration

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "storagemigration.platform.io/v1/StorageVersionMigration", Strategy: schema.EmptyStatusOnCreate{}},
	}
}
