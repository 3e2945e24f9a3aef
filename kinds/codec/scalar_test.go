package codec

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/kinds/quantity"
)

func TestPlainQuantitiesAreCanonical(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 100, 500, 999, 1000, 1001, 1023, 1024, 1025, 1500, 2048, 65536, 100_000, 999_999, 1_000_001, 9_999_999, 12_345_678} {
		for _, suffix := range []string{"", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "x"} {
			s := fmt.Sprint(n) + suffix
			if !isPlainQuantity(s) {
				continue
			}
			if want, err := quantity.Parse(s); err != nil || want != s {
				t.Errorf("%s is %s, %v", s, want, err)
			}
		}
	}
	for _, s := range []string{"500m", "3", "128Mi"} {
		if !isPlainQuantity(s) {
			t.Errorf("%s was not known", s)
		}
	}
}
