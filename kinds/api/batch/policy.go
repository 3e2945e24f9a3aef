package batch

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateSuccessRule validates a rule of a Job's success policy. v contains the rule and the Job's
// completions. The rule must not require more indexes than exist.
func validateSuccessRule(v any, path string, faults *schema.Faults) {
	rule, completions := v.([]any)[0].(tree.Tree), v.([]any)[1].(int64)
	text := rule.String("succeededIndexes")
	count, counted := rule.Int("succeededCount")
	total, err := countIndexes(text, completions)
	if err != nil {
		faults.Invalid(path+".succeededIndexes", text, "error parsing succeededIndexes: "+err.Error())
	}
	field.NonNegative(rule, path, faults, "succeededCount")
	if counted && count > completions {
		faults.Invalid(path+".succeededCount", count,
			fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))
	}
	if counted && rule.Has("succeededIndexes") && count > total {
		faults.Invalid(path+".succeededCount", count,
			fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))
	}
}
