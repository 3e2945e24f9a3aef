package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/troupe-api/troupe/internal/must"
)

// TestDependencies checks that docs/dependencies.md lists exactly the direct dependencies of the
// main module, each with a purpose and a replacement.
func TestDependencies(t *testing.T) {
	t.Parallel()
	var want []string
	for _, r := range must.Get(modfile.Parse("go.mod", must.Get(os.ReadFile("../../go.mod"))(t), nil))(t).Require {
		if !r.Indirect {
			want = append(want, r.Mod.Path)
		}
	}
	text := string(must.Get(os.ReadFile("../../docs/dependencies.md"))(t))
	var got []string
	for _, line := range regexp.MustCompile("(?m)^- `(\\S+)`: [^;\n]+; [^;\n]+$").FindAllStringSubmatch(text, -1) {
		got = append(got, line[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("docs/dependencies.md lists %q, go.mod requires %q", got, want)
	}
	if n := len(strings.Fields(text)); n > 500 {
		t.Errorf("docs/dependencies.md has %d words, at most 500", n)
	}
}
