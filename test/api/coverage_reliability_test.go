package api

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func isTranscript(t *testing.T, suite, name string) bool {
	t.Helper()
	for _, pattern := range []string{"testdata/*", "testdata/*/*"} {
		files, err := filepath.Glob(filepath.Join(suite, pattern, name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) > 0 {
			return true
		}
	}
	return false
}

// TestReliability checks that all tests named in docs/reliability.md exist.
func TestReliability(t *testing.T) {
	text := client.ReadFile(t, "../../docs/reliability.md")
	named := regexp.MustCompile("`([\\w/]+)\\.(Test\\w+)(?:/([\\w-]+))?`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 100 {
		t.Fatalf("only %d tests are named", len(named))
	}
	known := map[string]map[string]bool{}
	for _, n := range named {
		if known[n[1]] == nil {
			known[n[1]] = tests(t, filepath.Join("../..", n[1]))
		}
		if !known[n[1]][n[2]] || n[3] != "" && !isTranscript(t, filepath.Join("../..", n[1]), n[3]) {
			t.Errorf("there is no %s", n[0])
		}
	}
}
