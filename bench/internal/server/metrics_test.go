package server

import (
	"testing"
)

func TestMetricsAddUp(t *testing.T) {
	f := Metrics{`a{x="1"}`: 1, `a{x="2"}`: 2, "ab": 4, "c": 8}
	if sum, found := f.Sum("a"); sum != 3 || !found {
		t.Errorf("a is %v, %t", sum, found)
	}
	if sum, found := f.Sum("c"); sum != 8 || !found {
		t.Errorf("c is %v, %t", sum, found)
	}
	if _, found := f.Sum("d"); found {
		t.Error("there is a d")
	}
}
