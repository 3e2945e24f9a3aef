package printer

import (
	"cmp"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
)

// CompareKeys orders values as people do: numbers and quantities by what they are, else texts. What is not there comes first.
func CompareKeys(a, b string) int {
	x, errA := quantity.Parse(a)
	y, errB := quantity.Parse(b)
	if errA == nil && errB == nil {
		return cmp.Or(quantity.Compare(x, y), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}
