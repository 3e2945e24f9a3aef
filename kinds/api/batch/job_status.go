package batch

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateJobIndexes checks that an indexed Job's completed and failed indexes are valid and
// disjoint.
func validateJobIndexes(obj tree.Tree, _ string, faults *schema.Faults) {
	status, spec := obj.Object("status"), obj.Object("spec")
	size, sized := spec.Int("completions")
	completed := status.String("completedIndexes")
	failed, hasFailed := status["failedIndexes"].(string)
	perIndex := spec.Has("backoffLimitPerIndex")
	if _, err := countIndexes(completed, size); sized && err != nil {
		faults.Invalid("status.completedIndexes", completed, "error parsing completedIndexes: "+err.Error())
	}
	if _, err := countIndexes(failed, size); sized && perIndex && err != nil {
		faults.Invalid("status.failedIndexes", failed, "error parsing failedIndexes: "+err.Error())
	}
	if completed != "" && spec.String("completionMode") != "Indexed" {
		faults.Invalid("status.completedIndexes", completed, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if hasFailed && !perIndex {
		faults.Invalid("status.failedIndexes", failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if index, both := commonIndex(completed, failed, size); both {
		faults.Invalid("status.failedIndexes", failed, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", index))
	}
}
