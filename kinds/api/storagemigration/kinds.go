package storagemigration

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of the group with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "storagemigration.platform.io/v1beta1/StorageVersionMigration", Strategy: migrationStrategy{}},
	}
}
