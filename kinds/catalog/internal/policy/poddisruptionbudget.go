package policy

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/schema"
)

// The status of a new one is dropped, as an eviction is allowed by what stands in it.
type disruptionBudgetStrategy struct {
	schema.DefaultStrategy
	family.DropStatusOnCreate
}
