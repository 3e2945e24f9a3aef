//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A result is the outcome of a test or a package.
type result struct {
	pkg, test string // test is empty for a package
	action    string // pass, fail or skip
	elapsed   time.Duration
	output    string // output of a failed or skipped test
}

func (r result) name() string {
	name := strings.TrimPrefix(r.pkg, "github.com/troupe-api/troupe/")
	if r.test != "" {
		name += " " + r.test
	}
	return name
}

// An event is a line of go test -json (see go doc cmd/test2json).
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// readEvents parses the output of go test -json and calls ended for each finished test and package.
// It copies other output, such as compiler errors, to other.
func readEvents(r io.Reader, other io.Writer, ended func(result)) error {
	outputs := map[[2]string]*strings.Builder{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(other, line)
			continue
		}
		key := [2]string{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Fprint(other, e.Output)
		case "output":
			if outputs[key] == nil {
				outputs[key] = &strings.Builder{}
			}
			outputs[key].WriteString(e.Output)
		case "pass", "fail", "skip":
			r := result{pkg: e.Package, test: e.Test, action: e.Action, elapsed: time.Duration(e.Elapsed * float64(time.Second))}
			if out := outputs[key]; out != nil && e.Action != "pass" {
				r.output = out.String()
			}
			delete(outputs, key)
			ended(r)
		}
	}
}

// A run is a go command that prints test events.
type run struct {
	dir  string
	args []string // arguments of the go command
	env  []string // additions to the environment of this process
}

// step returns a step that runs the command and reports finished tests. Its error does not describe
// test failures, which are in the results.
func (r run) step(ctx context.Context) step {
	return func(ended func(result)) (time.Duration, error) {
		command := exec.CommandContext(ctx, "go", r.args...)
		command.Dir, command.Env, command.Stderr = r.dir, append(os.Environ(), r.env...), os.Stderr
		// Use a separate process group, so that the signal also reaches test binaries and their
		// children.
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
		out, err := command.StdoutPipe()
		if err != nil {
			return 0, err
		}
		if err := command.Start(); err != nil {
			return 0, err
		}
		readErr := readEvents(out, os.Stderr, ended)
		err = errors.Join(readErr, command.Wait())
		return cpu(command), err
	}
}

func cpu(command *exec.Cmd) time.Duration {
	if command.ProcessState == nil { // the command did not start
		return 0
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}
