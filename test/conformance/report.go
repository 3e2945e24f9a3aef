package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// A report gathers results. It may be told of them by several goroutines.
type report struct {
	mu       sync.Mutex
	suite    *suite
	results  []result
	failures string // a folder; "" for none
}

func newReport(s *suite, failures string) *report { return &report{suite: s, failures: failures} }

// tell takes a result, and shows it.
func (r *report) tell(is result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, is)
	if is.outcome == failed && r.failures != "" {
		name := filepath.Join(r.failures, fmt.Sprintf("%03d.log", len(r.results)))
		if err := os.WriteFile(name, []byte(is.output), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	fmt.Printf("%d/%d %s %s %s\n", len(r.results), len(r.suite.tests), is.outcome, is.took.Round(time.Second), is.name)
	if is.outcome == skipped {
		fmt.Printf("  %s\n", reasonOf(is.output))
	}
}

// print prints the counts of each group and the tests that failed, and is an error if there are any.
func (r *report) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nGROUP\tPASSED\tFAILED\tSKIPPED BY THE SUITE\tNOT APPLICABLE")
	var wrong []string
	for _, g := range groups {
		count := map[outcome]int{}
		for _, is := range r.results {
			if groupOf(is.name) != g {
				continue
			}
			count[is.outcome]++
			if is.outcome == failed {
				wrong = append(wrong, is.name)
			}
		}
		if len(count) > 0 || r.suite.inapplicable[g] > 0 {
			fmt.Fprintf(t, "sig-%s\t%d\t%d\t%d\t%d\n", g, count[passed], count[failed], count[skipped], r.suite.inapplicable[g])
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("%d tests failed:\n  %s", len(wrong), strings.Join(wrong, "\n  "))
}

// reasonLimit is how much is shown of why a test was skipped, in bytes: the suite prints whole objects.
const reasonLimit = 120

// reasonOf is why the suite has skipped a test, from its output.
func reasonOf(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if reason, ok := strings.CutPrefix(line, "[SKIPPED] "); ok && !strings.HasPrefix(reason, "in [") {
			return reason[:min(len(reason), reasonLimit)]
		}
	}
	return ""
}
