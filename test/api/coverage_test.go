package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

var (
	coverageRow = regexp.MustCompile(`(?m)^\| (\d[\d, -]*) \| ([^|]+) \|([^|]*)\|$`)
	suite       = regexp.MustCompile("^`([\\w/]+)` (Test[\\w/-]+(?:, Test[\\w/-]+)*)$")
)

// TestMaps checks that each row of a coverage map (test/coverage/*.md) names only existing tests.
func TestMaps(t *testing.T) {
	maps, err := filepath.Glob("../coverage/*.md")
	if err != nil || len(maps) == 0 {
		t.Fatal("no maps", err)
	}
	known := map[string]map[string]bool{}
	for _, file := range maps {
		text := client.ReadFile(t, file)
		rows := coverageRow.FindAllStringSubmatch(string(text), -1)
		if tables := strings.Count(string(text), "\n| ") - 1; len(rows) != tables {
			t.Errorf("%s has %d rows, of which %d can be read", file, tables, len(rows))
		}
		for _, r := range rows {
			for part := range strings.SplitSeq(r[3], ";") {
				m := suite.FindStringSubmatch(strings.TrimSpace(part))
				if m == nil {
					t.Errorf("%s, line %s: %q is not a folder and its tests", file, r[1], part)
					continue
				}
				if known[m[1]] == nil {
					known[m[1]] = tests(t, filepath.Join("../..", m[1]))
				}
				for name := range strings.SplitSeq(m[2], ", ") {
					test, _, _ := strings.Cut(name, "/")
					if !known[m[1]][test] {
						t.Errorf("%s, line %s: %s has no %s", file, r[1], m[1], name)
					}
				}
			}
		}
	}
}

func tests(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}
