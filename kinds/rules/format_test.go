package rules_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/rules"
)

// TestFormats checks the strings that each declared format, DomainPath and FullDomain accept.
func TestFormats(t *testing.T) {
	ofDomain := func(check func(string) []rules.DomainFault) func(string) []string {
		return func(s string) (lines []string) {
			for _, f := range check(s) {
				lines = append(lines, f.Value+": "+f.Message)
			}
			return lines
		}
	}
	domains := map[string]func(string) []string{
		"wildcard": rules.WildcardSubdomain, "path": ofDomain(rules.DomainPath), "domain": ofDomain(rules.FullDomain),
	}
	golden.Run(t, "testdata/formats.txt", func(given []string) string {
		name, quoted, _ := strings.Cut(given[0], " ")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", given[0], err)
		}
		check := domains[name]
		if check == nil {
			if check, err = rules.FindFormat(name); err != nil {
				t.Fatal(err)
			}
		}
		if faults := check(text); len(faults) > 0 {
			return strings.Join(faults, "\n")
		}
		return "valid"
	})
}
