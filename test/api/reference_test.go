package api

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func TestRecordedAnswers(t *testing.T) {
	t.Parallel()
	p := start(t)
	known := map[string]bool{}
	for _, c := range recordings(t) {
		known[c.Name] = true
		t.Run(c.Name, func(t *testing.T) { checkComparisons(t, c.Name, p.play(t, c)) })
	}
	for name := range differs {
		if !known[name] {
			t.Errorf("differs lists %q, which is no case", name)
		}
	}
}

// TestDepartures checks that docs/departures.md lists exactly the cases in differs, and that the
// tests it names exist.
func TestDepartures(t *testing.T) {
	t.Parallel()
	page := client.ReadFile(t, "../../docs/departures.md")
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("`([A-Za-z]+/[A-Za-z-]+)`[,|\\s]").FindAllStringSubmatch(string(page), -1) {
		if name := m[1]; !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "test/") && !strings.HasPrefix(name, "autoscaling/") {
			documented[name] = true
		}
	}
	for name := range differs {
		if !documented[name] {
			t.Errorf("docs/departures.md does not name %s", name)
		}
	}
	for name := range documented {
		if differs[name].why == "" {
			t.Errorf("docs/departures.md names %s, which is answered like the reference", name)
		}
	}
	tests := testNames(t)
	for _, m := range regexp.MustCompile("`(Test[A-Za-z0-9]+)(?:/([a-z0-9-]+))?`").FindAllStringSubmatch(string(page), -1) {
		if !tests[m[1]] || m[2] != "" && !isTranscript(t, "../*", m[2]) {
			t.Errorf("docs/departures.md names %s, which does not exist", m[0])
		}
	}
}

func testNames(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// checkComparisons fails the test unless the case agrees or differs exactly as listed in differs.
func checkComparisons(t *testing.T, name string, verdicts []referenceComparison) {
	t.Helper()
	report, first := summary(verdicts)
	d, departs := differs[name]
	switch {
	case departs && first < 0:
		t.Errorf("agrees: remove it from differs (%s)", d.why)
	case departs:
		if got := verdicts[first].code; first != d.step || got != d.code {
			t.Errorf("differs first at step %d with %d, expected at step %d with %d (%s)\n%s", first, got, d.step, d.code, d.why, report)
		}
	case first >= 0:
		t.Error(report)
	case report != "":
		t.Log(report)
	}
}

// summary describes all differences. It also returns the index of the first step with a hard
// difference, or -1.
func summary(verdicts []referenceComparison) (string, int) {
	var b strings.Builder
	first := -1
	for i, v := range verdicts {
		for _, d := range v.hard {
			fmt.Fprintf(&b, "\n  step %d: %s", i, d)
		}
		for _, d := range v.soft {
			fmt.Fprintf(&b, "\n  step %d, wording only: %s", i, d)
		}
		if len(v.hard) > 0 && first < 0 {
			first = i
		}
	}
	return b.String(), first
}
