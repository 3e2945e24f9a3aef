package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/troupe-api/troupe/test/tools/internal/overlay"
)

// A fault is a mistake in one file, and the tests that must catch it.
type fault struct {
	name string // short description of the fault
	file string // relative to the root of the repository
	old  string // text that occurs exactly once in the file
	new  string // replacement for old
	// tests are arguments of go test. Packages below ./test/ are in the separate Go module test.
	tests string
}

func main() {
	pattern := flag.String("run", "", "Regular expression of the faults to plant; all if it is empty.")
	tests := flag.String("tests", "", "Arguments of go test for all of them, instead of what is named with each, to see what else would notice it.")
	list := flag.Bool("list", false, "Print the faults and their tests, and plant none.")
	flag.Parse()
	if *list {
		for _, f := range faults() {
			fmt.Printf("%s: go test %s\n", f.name, f.tests)
		}
		return
	}
	if err := run(*pattern, *tests); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(pattern, tests string) error {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	root, err := repository()
	if err != nil {
		return err
	}
	planted, missed := 0, 0
	for _, f := range faults() {
		if !match.MatchString(f.name) {
			continue
		}
		if tests != "" {
			f.tests = tests
		}
		planted++
		began := time.Now()
		caught, err := f.caught(root)
		switch {
		case err != nil:
			missed++
			fmt.Printf("ERROR   %s: %v\n", f.name, err)
		case caught == "":
			missed++
			fmt.Printf("MISSED  %s: go test %s passes\n", f.name, f.tests)
		default:
			fmt.Printf("caught  %s: %s (%.0f s)\n", f.name, caught, time.Since(began).Seconds())
		}
	}
	if planted == 0 {
		return errors.New("no fault has such a name")
	}
	fmt.Printf("%d planted, %d caught\n", planted, planted-missed)
	if missed > 0 {
		return fmt.Errorf("%d were not caught", missed)
	}
	return nil
}

func repository() (string, error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	return strings.TrimSpace(string(out)), err
}

// mutated returns the text of the file with the fault. It returns an error unless f.old occurs
// exactly once.
func (f fault) mutated(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, f.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(f.old)); n != 1 {
		return nil, fmt.Errorf("the piece is found %d times in %s, want once", n, f.file)
	}
	return bytes.Replace(text, []byte(f.old), []byte(f.new), 1), nil
}

// caught returns the first test that fails with the fault, or the line that reports a hang or
// panic. It returns "" if all tests pass.
func (f fault) caught(root string) (string, error) {
	text, err := f.mutated(root)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "fault-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	flag, err := overlay.Write(dir, map[string][]byte{filepath.Join(root, f.file): text})
	if err != nil {
		return "", err
	}
	folder, tests := root, f.tests
	if strings.HasPrefix(tests, "./test/") {
		folder, tests = filepath.Join(root, "test"), "./"+strings.TrimPrefix(tests, "./test/")
	}
	c := exec.Command("go", append([]string{"test", "-vet=off", "-ldflags=-w", "-count=1", "-failfast", "-timeout=5m"}, strings.Fields(tests)...)...)
	c.Dir, c.Env = folder, append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" "+flag)) // also for programs that tests build
	out, err := c.CombinedOutput()
	if err == nil {
		if bytes.Contains(out, []byte("no tests to run")) {
			return "", errors.New("no test has such a name")
		}
		return "", nil
	}
	if failure := overlay.Failure(out); failure != "" {
		return failure, nil
	}
	return "", fmt.Errorf("go test %s: %v\n%s", f.tests, err, out)
}
