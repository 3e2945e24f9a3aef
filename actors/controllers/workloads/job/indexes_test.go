package job

import (
	"slices"
	"testing"
)

func TestIndexes(t *testing.T) {
	for _, c := range []struct {
		text  string
		below int
		want  string
		total int
	}{
		{"", 10, "", 0}, {"0", 10, "0", 1}, {"0,1", 10, "0,1", 2}, {"0,1,2", 10, "0-2", 3}, {"1,3-5,7", 10, "1,3-5,7", 5}, {"0-9", 5, "0-4", 5},
		{"7,1-2", 10, "1,2,7", 3}, {"x,1,-,2-x,9-3,4", 10, "1,4", 2}, {"-1,3", 10, "3", 1}, {"99999999999999999999", 10, "", 0},
	} {
		x := parseIndexes(c.text, c.below)
		if x.String() != c.want || x.total() != c.total {
			t.Errorf("%q below %d: %s with %d, want %s with %d", c.text, c.below, x, x.total(), c.want, c.total)
		}
	}
	x := parseIndexes("0-2,5,8-9", 12)
	if got := x.missing(3, 12); !slices.Equal(got, []int{3, 4, 6}) {
		t.Errorf("missing %v", got)
	}
	if got := x.missing(99, 12); !slices.Equal(got, []int{3, 4, 6, 7, 10, 11}) {
		t.Errorf("missing %v", got)
	}
	if got := parseIndexes("0-11", 12).missing(5, 12); got != nil {
		t.Errorf("missing %v", got)
	}
	if n := x.overlap(parseIndexes("1-5,9-11", 12)); n != 4 {
		t.Errorf("overlap of %d", n)
	}
	for i := range 12 {
		if x.has(i) != slices.Contains([]int{0, 1, 2, 5, 8, 9}, i) {
			t.Errorf("has %d: %t", i, x.has(i))
		}
	}
}
