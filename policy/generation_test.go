package policy

import "testing"

func TestGeneration(t *testing.T) {
	var g Generation
	a, b := 1, "x"
	g.AddSource(func() any { return a })
	g.AddSource(func() any { return b })
	first := g.Current()
	if g.Current() != first {
		t.Error("it changes by itself")
	}
	a = 2
	second := g.Current()
	if second == first {
		t.Error("the first value changed, the generation did not")
	}
	b = "y"
	if third := g.Current(); third == second || g.Current() != third {
		t.Error("the second value changed once, the generation did not")
	}
}
