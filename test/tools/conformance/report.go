package main

import (
	"cmp"
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

// A report collects results. It is safe for concurrent use.
type report struct {
	mu       sync.Mutex
	suite    *suite
	results  map[string]result // results by test name
	reported int               // number of results in this run
	file     resultFile        // if the path is empty, results are not kept
	failures string            // directory for output of failed tests, or ""
}

// newReport returns a report for a suite. It counts tests that passed or were skipped according to
// file, and removes them from the suite.
func newReport(s *suite, file resultFile, failures string) (*report, error) {
	r := &report{suite: s, results: map[string]result{}, file: file, failures: failures}
	if failures != "" {
		if err := os.MkdirAll(failures, 0o755); err != nil {
			return nil, err
		}
	}
	if file.path == "" {
		return r, nil
	}
	before, err := file.read()
	if err != nil {
		return nil, err
	}
	s.tests = slices.DeleteFunc(s.tests, func(name string) bool {
		is, ok := before[name]
		if ok = ok && is.outcome != failed; ok {
			r.results[name] = is
		}
		return ok
	})
	return r, nil
}

func (r *report) record(is result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if is.outcome == skipped {
		is.reason = reasonOf(is.output)
	}
	r.reported++
	if is.outcome == failed && r.failures != "" {
		name := filepath.Join(r.failures, fmt.Sprintf("%s-%03d.log", time.Now().Format("150405"), r.reported))
		if err := os.WriteFile(name, []byte(is.output), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if r.file.path != "" {
		if err := r.file.add(is); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	is.output = "" // it may be several MiB
	r.results[is.name] = is
	fmt.Printf("%d/%d %s %s %s\n", r.reported, len(r.suite.tests), is.outcome, is.took.Round(time.Second), is.name)
	if is.reason != "" {
		fmt.Printf("  %s\n", is.reason)
	}
}

// print prints the counts by group and the failed tests. It returns an error if any test failed.
func (r *report) print(w io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := map[string]map[outcome]int{}
	for _, g := range groups {
		counts[g] = map[outcome]int{inapplicable: r.suite.inapplicable[g]}
	}
	var wrong []string
	for _, is := range r.results {
		counts[groupOf(is.name)][is.outcome]++
		if is.outcome == failed {
			wrong = append(wrong, is.name)
		}
	}
	for _, name := range r.suite.tests {
		if _, ok := r.results[name]; !ok {
			counts[groupOf(name)][notRun]++
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nGROUP\tPASSED\tFAILED\tSKIPPED BY THE SUITE\tNOT RUN\tNOT APPLICABLE")
	all := map[outcome]int{}
	row := func(name string, count map[outcome]int) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\n", name, count[passed], count[failed], count[skipped], count[notRun], count[inapplicable])
	}
	for _, g := range groups {
		for is, n := range counts[g] {
			all[is] += n
		}
		if cmp.Or(counts[g][passed], counts[g][failed], counts[g][skipped], counts[g][notRun], counts[g][inapplicable]) > 0 {
			row("sig-"+g, counts[g])
		}
	}
	row("all", all)
	if err := t.Flush(); err != nil {
		return err
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("%d tests failed:\n  %s", len(wrong), strings.Join(wrong, "\n  "))
}

// reasonLimit limits the size of a printed skip reason, in bytes, because the suite prints whole
// objects.
const reasonLimit = 120

func reasonOf(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if reason, ok := strings.CutPrefix(line, "[SKIPPED] "); ok && !strings.HasPrefix(reason, "in [") {
			return reason[:min(len(reason), reasonLimit)]
		}
	}
	return ""
}
