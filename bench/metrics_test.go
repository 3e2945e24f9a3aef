package main

import (
	"testing"
)

func TestMetricsAddUp(t *testing.T) {
	f := metrics{`a{x="1"}`: 1, `a{x="2"}`: 2, "ab": 4, "c": 8}
	if sum, found := f.sum("a"); sum != 3 || !found {
		t.Errorf("a is %v, %t", sum, found)
	}
	if sum, found := f.sum("c"); sum != 8 || !found {
		t.Errorf("c is %v, %t", sum, found)
	}
	if _, found := f.sum("d"); found {
		t.Error("there is a d")
	}
}
