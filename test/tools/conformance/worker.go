package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
)

type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "FAILED"
	skipped outcome = "skipped" // by the suite, which prints the reason

	// These outcomes are used only in counts.
	notRun       outcome = "not run"
	inapplicable outcome = "not applicable"
)

type result struct {
	name    string
	outcome outcome
	took    time.Duration
	output  string // the suite's output
	reason  string // why the test was skipped
}

// A worker runs tests in processes of the suite.
type worker struct {
	program, kubeconfig, kubectl string
	limit                        time.Duration // timeout of one test
}

// batchSize is the number of tests per process, which takes seconds to start.
const batchSize = 8

// run runs the tests and records each result. It returns an error if ctx ends first.
func (w worker) run(ctx context.Context, tests []string, record func(result)) error {
	for len(tests) > 0 {
		batch := tests[:min(batchSize, len(tests))]
		done, err := w.process(ctx, batch, record)
		if err != nil {
			return err
		}
		tests = slices.DeleteFunc(slices.Clone(tests), func(name string) bool { return slices.Contains(done, name) })
	}
	return nil
}

// dashes is the line that the suite prints between tests.
const dashes = "------------------------------"

// ended matches the line with a test's outcome, which is omitted if the test passed.
var ended = regexp.MustCompile(`^(•|S) (?:\[SLOW TEST\] )?(\[[A-Z! ]+\] )?(\[[A-Z! ]+\] )?\[(\d+\.\d+) seconds\]`)

// process runs one process of the suite and returns the finished tests.
//
// For each test, the suite prints a line with its name, a line that matches ended, and a line of
// dashes. If the process ends early, the caller runs the remaining tests in a new process, unless
// no test finished.
func (w worker) process(ctx context.Context, batch []string, record func(result)) (done []string, err error) {
	expressions := make([]string, len(batch))
	for i, name := range batch {
		expressions[i] = regexp.QuoteMeta(name)
	}
	c := exec.CommandContext(ctx, w.program, "--kubeconfig="+w.kubeconfig, "--provider=skeleton", "--kubectl-path="+w.kubectl, "--allowed-not-ready-nodes=-1", "--minStartupPods=0",
		"--dump-logs-on-failure=false", "--ginkgo.no-color", "--ginkgo.v", "--ginkgo.timeout=24h", "--ginkgo.focus="+strings.Join(expressions, "|"))
	processes.InOwnGroup(c) // an interrupt must not reach the suite and count as a failed test
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = in.CloseWithError(c.Wait()) // the output contains the failures
	}()
	lines := make(chan string)
	go func() {
		defer close(lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if line != "" {
				lines <- strings.TrimRight(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	var text strings.Builder
	current, began, is, over := "", time.Now(), passed, false
	timer := time.NewTimer(w.limit)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				if ctx.Err() != nil {
					return done, ctx.Err()
				}
				if len(done) == 0 {
					return nil, fmt.Errorf("the suite has run none of its tests:\n%s", text.String())
				}
				return done, nil
			}
			if name := startOf(line, batch); name != "" && current == "" {
				current, began = name, time.Now()
				text.Reset()
				timer.Reset(w.limit)
			}
			text.WriteString(line + "\n")
			if m := ended.FindStringSubmatch(line); m != nil {
				is, over = outcomeOf(m), true
			}
			if !over || current == "" || line != dashes {
				continue // the reason of a failure follows the line of ended
			}
			done = append(done, current)
			record(result{name: current, outcome: is, took: time.Since(began), output: text.String()})
			current, over = "", false
		case <-timer.C:
			_ = c.Process.Kill() // the process may have exited
			if current == "" {
				return nil, fmt.Errorf("the suite does not begin:\n%s", text.String())
			}
			for range lines { // drain the output
			}
			record(result{name: current, outcome: failed, took: time.Since(began), output: text.String() + "it took longer than " + w.limit.String()})
			return append(done, current), nil
		}
	}
}

func outcomeOf(m []string) outcome {
	switch {
	case m[2] == "[SKIPPED] ":
		return skipped
	case m[2] != "" || m[3] != "":
		return failed
	}
	return passed
}

// startOf returns the test in batch that starts at this line of the output, or "". Only labels may
// follow the name, because it may be a prefix of another test's name.
func startOf(line string, batch []string) string {
	best := ""
	for _, name := range batch {
		if labels, ok := strings.CutPrefix(line, name); ok && (labels == "" || strings.HasPrefix(strings.TrimLeft(labels, " "), "[") && labels[0] == ' ') && len(name) > len(best) {
			best = name
		}
	}
	return best
}
