package api

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestReliability finds tests that docs/reliability.md names and that do not exist.
func TestReliability(t *testing.T) {
	text := client.ReadFile(t, "../../docs/reliability.md")
	named := regexp.MustCompile("`([\\w/]+)\\.(Test\\w+)(?:/\\w+)?`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 100 {
		t.Fatalf("only %d tests are named", len(named))
	}
	known := map[string]map[string]bool{}
	for _, n := range named {
		if known[n[1]] == nil {
			known[n[1]] = tests(t, filepath.Join("../..", n[1]))
		}
		if !known[n[1]][n[2]] {
			t.Errorf("%s has no %s", n[1], n[2])
		}
	}
}
