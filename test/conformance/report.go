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
	word := "passed"
	if !is.passed {
		word = "FAILED"
		if r.failures != "" {
			name := filepath.Join(r.failures, fmt.Sprintf("%03d.log", len(r.results)))
			if err := os.WriteFile(name, []byte(is.output), 0o600); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	fmt.Printf("%d/%d %s %s %s\n", len(r.results), len(r.suite.tests), word, is.took.Round(time.Second), is.name)
}

// print prints the counts of each group and the tests that failed, and is an error if there are any.
func (r *report) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nGROUP\tPASSED\tFAILED\tNOT APPLICABLE")
	var failed []string
	for _, g := range groups {
		passed, wrong := 0, 0
		for _, is := range r.results {
			switch {
			case groupOf(is.name) != g:
			case is.passed:
				passed++
			default:
				wrong++
				failed = append(failed, is.name)
			}
		}
		if passed+wrong+r.suite.skipped[g] > 0 {
			fmt.Fprintf(t, "sig-%s\t%d\t%d\t%d\n", g, passed, wrong, r.suite.skipped[g])
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(failed) == 0 {
		return nil
	}
	slices.Sort(failed)
	return fmt.Errorf("%d tests failed:\n  %s", len(failed), strings.Join(failed, "\n  "))
}
