package api

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCoverage: every test that COVERAGE.md names exists.
func TestCoverage(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("COVERAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	var all []string
	err = filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			all = append(all, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`\b(Test|Fuzz)[A-Z]\w*\*?`).FindAllString(string(list), -1) {
		prefix, many := strings.CutSuffix(name, "*")
		found := false
		for _, test := range all {
			found = found || test == name || many && strings.HasPrefix(test, prefix)
		}
		if !found {
			t.Errorf("there is no %s", name)
		}
	}
}
