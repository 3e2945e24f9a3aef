//go:build unix

package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

type report struct {
	out io.Writer
	// selected matches the stages to run. If it is nil, all of them run.
	selected *regexp.Regexp
	began    time.Time
	stages   []stageResult
	results  []result
	missing  []tool
	mu       sync.Mutex // guards stages, results and out, because stages run concurrently
}

// A step executes a stage and returns its CPU time. It calls ended for each finished test.
type step func(ended func(result)) (cpu time.Duration, err error)

type stageResult struct {
	name                    string
	took, cpu               time.Duration
	passed, failed, skipped int
	err                     error
}

// failed returns the failed tests and packages, except parents of failed tests.
func failed(results []result) (failed []result) {
	for _, f := range results {
		if f.action != "fail" {
			continue
		}
		inner := slices.ContainsFunc(results, func(o result) bool {
			return o.action == "fail" && o.pkg == f.pkg && o.test != f.test && (f.test == "" || strings.HasPrefix(o.test, f.test+"/"))
		})
		if !inner {
			failed = append(failed, f)
		}
	}
	return failed
}

func (r *report) selects(name string) bool { return r.selected == nil || r.selected.MatchString(name) }

func (r *report) stage(name string, do step) {
	if r.selects(name) {
		r.always(name, do)
	}
}

// always runs a step even if it is not selected, and prints its result. It reports whether the step
// passed.
func (r *report) always(name string, do step) bool {
	s := stageResult{name: name}
	began := time.Now()
	var results []result
	s.cpu, s.err = do(func(e result) {
		results = append(results, e)
		switch {
		case e.test == "":
		case e.action == "pass":
			s.passed++
		case e.action == "skip":
			s.skipped++
		default:
			s.failed++
		}
	})
	s.took = time.Since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stages, r.results = append(r.stages, s), append(r.results, results...)
	for _, f := range failed(results) {
		fmt.Fprintf(r.out, "--- %s failed\n%s", f.name(), f.output)
	}
	fmt.Fprintln(r.out, s.line())
	return s.ok()
}

func (s stageResult) ok() bool { return s.err == nil && s.failed == 0 }

func (s stageResult) line() string {
	state := "ok"
	if !s.ok() {
		state = "FAILED"
	}
	line := fmt.Sprintf("%-7s%-38s%8s%8s of CPU", state, s.name, s.took.Round(time.Second), s.cpu.Round(time.Second))
	if n := s.passed + s.failed; n > 0 {
		line += fmt.Sprintf("  %5d tests", n)
	}
	if s.skipped > 0 {
		line += fmt.Sprintf(", %d skipped", s.skipped)
	}
	return line
}

func (r *report) finish() bool {
	fmt.Fprintln(r.out)
	ok := true
	for _, s := range r.stages {
		if !s.ok() {
			ok = false
			fmt.Fprintln(r.out, s.line())
			if s.err != nil && s.failed == 0 {
				fmt.Fprintln(r.out, "  ", s.err)
			}
		}
	}
	for _, f := range failed(r.results) {
		fmt.Fprintln(r.out, "failed:", f.name())
	}
	slowest := slices.DeleteFunc(slices.Clone(r.results), func(e result) bool { return e.test == "" || strings.Contains(e.test, "/") })
	slices.SortFunc(slowest, func(a, b result) int { return cmp.Compare(b.elapsed, a.elapsed) })
	fmt.Fprintln(r.out, "slowest tests:")
	for _, e := range slowest[:min(10, len(slowest))] {
		fmt.Fprintf(r.out, "%8s  %s\n", e.elapsed.Round(100*time.Millisecond), e.name())
	}
	for _, e := range r.results {
		if e.action == "skip" && e.test != "" {
			fmt.Fprintln(r.out, "skipped:", e.name())
		}
	}
	for _, m := range r.missing {
		fmt.Fprintf(r.out, "missing: %s (%s)\n", m.program, m.install())
	}
	fmt.Fprintf(r.out, "total: %s, %s of CPU on %d CPUs\n", time.Since(r.began).Round(time.Second), cpuOfChildren().Round(time.Second), runtime.NumCPU())
	return ok
}

func cpuOfChildren() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
