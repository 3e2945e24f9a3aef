package api

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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

var (
	promise   = regexp.MustCompile("^\\| (\\d+) \\| \\S[^|]+ \\| ([^|]+) \\|$")
	namedTest = regexp.MustCompile("`([\\w/]+)\\.(Test\\w+)(?:/([\\w-]+))?`")
)

// TestReliability checks that each row of the tables of promises in docs/reliability.md has the
// next number, a promise and tests, and that all tests named in the document exist.
func TestReliability(t *testing.T) {
	text := string(client.ReadFile(t, "../../docs/reliability.md"))
	rows := 0
	for table := range strings.SplitSeq(text, "| | Promise | Tests |\n|---|---|---|\n") {
		if rows == 0 && !strings.HasPrefix(table, "|") {
			continue // the introduction
		}
		table, _, _ = strings.Cut(table, "\n\n")
		for row := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
			rows++
			m := promise.FindStringSubmatch(row)
			if m == nil || m[1] != strconv.Itoa(rows) || strings.Trim(namedTest.ReplaceAllString(m[2], ""), ", ") != "" {
				t.Errorf("row %d is not a number, a promise and tests: %s", rows, row)
			}
		}
	}
	if rows < 54 {
		t.Errorf("only %d promises", rows)
	}
	known := map[string]map[string]bool{}
	for _, n := range namedTest.FindAllStringSubmatch(text, -1) {
		if known[n[1]] == nil {
			known[n[1]] = tests(t, filepath.Join("../..", n[1]))
		}
		if !known[n[1]][n[2]] || n[3] != "" && !isTranscript(t, filepath.Join("../..", n[1]), n[3]) {
			t.Errorf("there is no %s", n[0])
		}
	}
}
