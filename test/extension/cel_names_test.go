package extension

import (
	"testing"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/cel"
)

// TestEscape compares the escaped forms of random field names with the reference implementation.
func TestEscape(t *testing.T) {
	t.Parallel()
	parts := rapid.SampledFrom([]string{"_", "__", "a", "B", "9", ".", "-", "/", "in", "namespace", "while", "ä", " ", "$", "underscores", "dot"})
	rapid.Check(t, func(t *rapid.T) {
		name := ""
		for _, part := range rapid.SliceOfN(parts, 0, 5).Draw(t, "parts") {
			name += part
		}
		got, ok := cel.Escape(name)
		want, wantOK := apiservercel.Escape(name)
		if got != want || ok != wantOK {
			t.Fatalf("%q: %q %t, want %q %t", name, got, ok, want, wantOK)
		}
	})
}
