package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// between represents the suite's checks outside of groups. The suite ends if one of them fails.
const between = "between_groups"

// shownLines is the number of output lines shown for a failed group.
const shownLines = 40

// A report parses the suite's output and prints the groups' results.
type report struct {
	to      io.Writer
	pending []string // selected groups without a result
	partial []byte   // incomplete line
	current string   // current group
	lines   []string // latest output of the current group
	passed  int
	failed  int
}

func newReport(to io.Writer, selected []string) *report {
	return &report{to: to, pending: slices.Clone(selected), current: between}
}

// The suite prints groupStarted before and groupEnded after each group, and suiteEnded at its end.
var (
	groupStarted = regexp.MustCompile(`\+\+\+ Running case: test-cmd\.(\w+)`)
	groupEnded   = regexp.MustCompile(`\+\+\+ exit code: (\d+)$`)
	suiteEnded   = regexp.MustCompile(`^(\+\+\+ \[.*\] TESTS PASSED|FAILED TESTS: run_)`)
	color        = regexp.MustCompile("\x1b(\\(B|\\[[0-9;]*m)")
)

func (r *report) Write(output []byte) (int, error) {
	r.partial = append(r.partial, output...)
	for {
		line, rest, ok := bytes.Cut(r.partial, []byte("\n"))
		if !ok {
			return len(output), nil
		}
		r.readLine(color.ReplaceAllString(string(line), ""))
		r.partial = rest
	}
}

func (r *report) readLine(line string) {
	if match := groupStarted.FindStringSubmatch(line); match != nil {
		r.current, r.lines = groupOf(match[1]), nil
		return
	}
	if match := groupEnded.FindStringSubmatch(line); match != nil {
		r.record(r.current, match[1] == "0")
		r.current, r.lines = between, nil
		return
	}
	if suiteEnded.MatchString(line) {
		r.record(between, true)
	}
	r.lines = append(r.lines, line)
	r.lines = r.lines[max(0, len(r.lines)-shownLines):]
}

// record counts and prints the result of a selected group.
func (r *report) record(group string, passed bool) {
	i := slices.Index(r.pending, group)
	if i < 0 {
		return
	}
	r.pending = slices.Delete(r.pending, i, i+1)
	if passed {
		r.passed++
		fmt.Fprintf(r.to, "%s: passed\n", group)
		return
	}
	r.failed++
	fmt.Fprintf(r.to, "%s: FAILED\n    %s\n", group, strings.Join(r.lines, "\n    "))
}

// finish prints the summary and counts groups without a result as failed. suiteError is the error
// from the suite itself.
func (r *report) finish(suiteError error) error {
	if slices.Contains(r.pending, r.current) {
		r.record(r.current, false)
	}
	for _, group := range r.pending {
		fmt.Fprintf(r.to, "%s: FAILED, did not run\n", group)
	}
	r.failed += len(r.pending)
	fmt.Fprintf(r.to, "%d passed, %d failed\n", r.passed, r.failed)
	if r.failed > 0 {
		return cmp.Or(suiteError, errors.New("groups failed"))
	}
	return suiteError
}

func groupOf(function string) string {
	return strings.TrimSuffix(strings.TrimPrefix(function, "run_"), "_tests")
}
