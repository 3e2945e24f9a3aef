package storagemigration

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of storagemigration with their strategies.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "storagemigration.platform.io/v1beta1/StorageVersionMigration", Strategy: migrationStrategy{}},
	}
}
