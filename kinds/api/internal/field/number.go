package field

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// NonNegativeMsg is the message for negative numbers.
const NonNegativeMsg = "must be greater than or equal to 0"

// BoundsMsg returns the message for numbers outside inclusive bounds.
func BoundsMsg(low, high int64) string {
	return fmt.Sprintf("must be between %d and %d, inclusive", low, high)
}

// NonNegative adds an error for each named field that is negative.
func NonNegative(t tree.Tree, path string, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if n, ok := t.Int(name); ok && n < 0 {
			faults.Invalid(tree.FieldPath(path, name), n, NonNegativeMsg)
		}
	}
}
