package policy

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// disruptionBudgetStrategy drops the status on create, because the status allows evictions.
type disruptionBudgetStrategy struct {
	schema.DefaultStrategy
	schema.DropStatusOnCreate
}
