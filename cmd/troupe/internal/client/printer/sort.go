package printer

import (
	"cmp"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
)

// CompareKeys compares numbers and quantities by value, and other text lexically. Missing values
// come first.
func CompareKeys(a, b string) int {
	x, errA := quantity.Parse(a)
	y, errB := quantity.Parse(b)
	if errA == nil && errB == nil {
		return cmp.Or(quantity.Compare(x, y), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}
