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

// An outcome is what has become of a test.
type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "FAILED"
	skipped outcome = "skipped" // by the suite itself, which says why in its output

	// Only counts have these.
	notRun       outcome = "not run"
	inapplicable outcome = "not applicable"
)

// A result is what has become of a test.
type result struct {
	name    string
	outcome outcome
	took    time.Duration
	output  string // all that the suite has written
	reason  string // why it was skipped
}

// A worker runs tests by processes of the suite.
type worker struct {
	program, kubeconfig, kubectl string
	limit                        time.Duration // of one test
}

// batchSize is how many tests a process runs: it takes seconds to start.
const batchSize = 8

// run runs tests, and tells of each when it has ended. It is an error if the context ends before they have.
func (w worker) run(ctx context.Context, tests []string, tell func(result)) error {
	for len(tests) > 0 {
		batch := tests[:min(batchSize, len(tests))]
		done, err := w.process(ctx, batch, tell)
		if err != nil {
			return err
		}
		tests = slices.DeleteFunc(slices.Clone(tests), func(name string) bool { return slices.Contains(done, name) })
	}
	return nil
}

// dashes is the line between two tests.
const dashes = "------------------------------"

// ended is the line that tells what has become of a test: it has a word but for one that has passed, or was slow.
var ended = regexp.MustCompile(`^(•|S) (?:\[SLOW TEST\] )?(\[[A-Z! ]+\] )?(\[[A-Z! ]+\] )?\[(\d+\.\d+) seconds\]`)

// process runs one process of the suite, and returns the tests that have ended.
//
// Of each test the output has its name in a line of its own, then the line of ended, and a line of dashes. A
// process that ends before all tests of its batch have is asked for the rest again, unless it has not ended any.
func (w worker) process(ctx context.Context, batch []string, tell func(result)) (done []string, err error) {
	expressions := make([]string, len(batch))
	for i, name := range batch {
		expressions[i] = regexp.QuoteMeta(name)
	}
	c := exec.CommandContext(ctx, w.program, "--kubeconfig="+w.kubeconfig, "--provider=skeleton", "--kubectl-path="+w.kubectl, "--allowed-not-ready-nodes=-1", "--minStartupPods=0",
		"--dump-logs-on-failure=false", "--ginkgo.no-color", "--ginkgo.v", "--ginkgo.timeout=24h", "--ginkgo.focus="+strings.Join(expressions, "|"))
	processes.InOwnGroup(c) // an interrupt is for this command, which does not count the test that it ends
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = in.CloseWithError(c.Wait()) // the lines tell of failures
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
				continue // behind the line of ended stands why it failed
			}
			done = append(done, current)
			tell(result{name: current, outcome: is, took: time.Since(began), output: text.String()})
			current, over = "", false
		case <-timer.C:
			_ = c.Process.Kill() // it may have ended
			if current == "" {
				return nil, fmt.Errorf("the suite does not begin:\n%s", text.String())
			}
			for range lines { // to its end
			}
			tell(result{name: current, outcome: failed, took: time.Since(began), output: text.String() + "it took longer than " + w.limit.String()})
			return append(done, current), nil
		}
	}
}

// outcomeOf reads what ended has matched.
func outcomeOf(m []string) outcome {
	switch {
	case m[2] == "[SKIPPED] ":
		return skipped
	case m[2] != "" || m[3] != "":
		return failed
	}
	return passed
}

// startOf is the test that a line is the name of, with labels behind it, and a blank or two between them; "" for none, and for one that is not of the batch but
// runs with it, as its name holds that of another one.
func startOf(line string, batch []string) string {
	best := ""
	for _, name := range batch {
		if labels, ok := strings.CutPrefix(line, name); ok && (labels == "" || strings.HasPrefix(strings.TrimLeft(labels, " "), "[") && labels[0] == ' ') && len(name) > len(best) {
			best = name
		}
	}
	return best
}
