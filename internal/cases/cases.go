// Package cases reads test cases from files.
package cases

import (
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

// A Case is one section of a test case file.
type Case struct {
	Name  string
	Lines []string
}

// Read returns the test cases of a file. Each case begins with a line "== NAME". Empty lines and
// lines that begin with "#" are skipped. A line "let NAME = TEXT" replaces each later <NAME> with
// TEXT.
func Read(t testing.TB, path string) (all []Case) {
	t.Helper()
	var texts []string
	for line := range strings.SplitSeq(string(must.Get(os.ReadFile(path))(t)), "\n") {
		line = strings.NewReplacer(texts...).Replace(line)
		switch verb, rest, _ := strings.Cut(line, " "); {
		case line == "" || line[0] == '#':
		case verb == "let":
			name, text, _ := strings.Cut(rest, " = ")
			texts = append(texts, "<"+name+">", text)
		case verb == "==":
			all = append(all, Case{Name: rest})
		case len(all) == 0:
			t.Fatalf("%s: %s is in no case", path, line)
		default:
			last := &all[len(all)-1]
			last.Lines = append(last.Lines, line)
		}
	}
	return all
}
