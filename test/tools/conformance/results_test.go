package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestResults checks that failed tests are rerun, passed tests are not, and all are counted.
func TestResults(t *testing.T) {
	file := resultFile{filepath.Join(t.TempDir(), "results")}
	tests := []string{"[sig-cli] a", "[sig-cli] b", "[sig-cli] c", "[sig-cli] d"}
	run := func() *report {
		r, err := newReport(&suite{tests: append([]string(nil), tests...), inapplicable: map[string]int{"cli": 5}}, file, "")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := run()
	if len(first.suite.tests) != len(tests) {
		t.Fatalf("the first run is of %q", first.suite.tests)
	}
	first.record(result{name: tests[0], outcome: passed, took: time.Second})
	first.record(result{name: tests[1], outcome: failed})
	first.record(result{name: tests[2], outcome: skipped, output: "[SKIPPED] not here\n"})
	var text strings.Builder
	if err := first.print(&text); err == nil || !strings.Contains(err.Error(), tests[1]) {
		t.Errorf("the failure: %v", err)
	}
	second := run()
	if got := strings.Join(second.suite.tests, ","); got != tests[1]+","+tests[3] {
		t.Errorf("the second run is of %s", got)
	}
	second.record(result{name: tests[1], outcome: passed})
	text.Reset()
	if err := second.print(&text); err != nil {
		t.Error(err)
	}
	if got := strings.Fields(strings.Split(text.String(), "\n")[2]); strings.Join(got, " ") != "sig-cli 2 0 1 1 5" {
		t.Errorf("%q in\n%s", got, &text)
	}
	if again := run(); again.results[tests[2]].reason != "not here" {
		t.Errorf("kept: %+v", again.results)
	}
}
