package daemon

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/policy/admission"
)

func TestDocumentationNamesEveryPlugin(t *testing.T) {
	text := must.Get(os.ReadFile("../../../docs/admission.md"))(t)
	var names, defaults []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (yes|no) \\|").FindAllStringSubmatch(string(text), -1) {
		names = append(names, row[1])
		if row[2] == "yes" {
			defaults = append(defaults, row[1])
		}
	}
	slices.Sort(names)
	slices.Sort(defaults)
	if !slices.Equal(names, admission.Names()) || !slices.Equal(defaults, admission.Defaults()) {
		t.Errorf("docs/admission.md lists %q, and as enabled by default %q", names, defaults)
	}
}
