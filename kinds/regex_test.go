package kinds_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/regex"
)

// TestExpansion checks the estimated program size of regular expressions, and that Compile rejects
// short ones with a large program.
func TestExpansion(t *testing.T) {
	for pattern, want := range map[string]float64{
		"": 0, "abc": 3, "a{3}": 3, "a{2,5}b": 6, "a{7,}": 7, `\{9}`: 5, `\x{41}{9}`: 15, "[]){9}]{9}": 9, "[[:alpha:](]{2}": 2, "(ab){10}": 40, "((a{10}){10}){10}": 1220, "a{x}": 4, "((a": 1, "a)b": 4,
	} {
		if got := regex.Expansion(pattern); got != want {
			t.Errorf("%q: %v, want %v", pattern, got, want)
		}
	}
	for _, hidden := range []string{`[(]`, `\(`, `\Q(\E`, `[\](]`, `[^](]`, `\x{28}`} {
		if pattern := "(" + strings.Repeat("x", 100) + hidden + "){1000}"; regex.Expansion(pattern) < 100_000 {
			t.Errorf("%s: %v", hidden, regex.Expansion(pattern))
		}
	}
	bomb := "(" + strings.Repeat("x", 3000) + "){1000}"
	if _, err := regex.Compile(bomb); err == nil {
		t.Error("a constant of millions is compiled")
	}
	if _, err := regex.Compile(strings.Repeat(`\pL`, 1000)); err == nil { // 5 KiB each
		t.Error("classes of megabytes are compiled")
	}
	if _, err := regex.Compile(`^[\pL\p{N}_]{1,1000}$`); err != nil {
		t.Error(err)
	}
	if _, err := regex.Compile(`^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.){1,10}$`); err != nil {
		t.Error(err)
	}
}
