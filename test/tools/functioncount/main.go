// Command functioncount counts Troupe's functions that a request calls, and their packages, as a
// measure of how much code a reader must follow. It builds itself with coverage counters, starts a
// server, sends the same request 200 times, and counts the functions called at least 190 times.
//
//	go run ./tools/functioncount             # one line per request
//	go run ./tools/functioncount -list get   # and the functions that a GET calls, by package
//
// Function literals count as part of the enclosing function.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/coverage"
)

func main() {
	list := flag.String("list", "", "list the functions that this request runs: get, put, apply, …")
	flag.Parse()
	if err := run(*list); err != nil {
		fmt.Fprintf(os.Stderr, "functioncount: %v\n", err)
		os.Exit(1)
	}
}

func run(list string) error {
	// ClearCounters fails if the program was built without coverage counters, for example by go
	// run.
	if coverage.ClearCounters() != nil {
		return runWithCounters()
	}
	return measure(list)
}

// runWithCounters builds this program with coverage counters in all of Troupe's packages and runs
// it.
func runWithCounters() error {
	dir, err := os.MkdirTemp("", "functioncount")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "functioncount")
	build := exec.Command("go", "build", "-cover", "-covermode=atomic",
		"-coverpkg="+module+"/...", "-o", binary, "./tools/functioncount")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building with counters: %w", err)
	}
	measured := exec.Command(binary, os.Args[1:]...)
	measured.Stdout, measured.Stderr = os.Stdout, os.Stderr
	// The program writes the counters itself. GOCOVERDIR is set only to avoid a warning at exit.
	measured.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	var exit *exec.ExitError
	if err := measured.Run(); errors.As(err, &exit) {
		return errors.New("the measured program failed")
	} else if err != nil {
		return err
	}
	return nil
}
