package api

import (
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestCoverage checks that all tests and transcripts named in COVERAGE.md exist.
func TestCoverage(t *testing.T) {
	t.Parallel()
	all := testNames(t)
	list := string(client.ReadFile(t, "COVERAGE.md"))
	for _, m := range regexp.MustCompile(`\b((?:Test|Fuzz)[A-Z]\w*)(\*|/[a-z0-9-]+)?`).FindAllStringSubmatch(list, -1) {
		found := all[m[1]]
		if name, isPath := strings.CutPrefix(m[2], "/"); isPath {
			found = found && isTranscript(t, "../*", name)
		}
		for test := range all {
			found = found || m[2] == "*" && strings.HasPrefix(test, m[1])
		}
		if !found {
			t.Errorf("there is no %s", m[0])
		}
	}
}
