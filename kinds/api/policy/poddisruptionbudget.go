package policy

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// disruptionBudgetStrategy drops the status on create, because evictions rely on the status.
type disruptionBudgetStrategy struct {
	schema.DefaultStrategy
	schema.DropStatusOnCreate
}
