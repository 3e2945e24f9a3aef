package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/test/tools/internal/overlay"
)

type runner struct {
	root, run string
	tests     []string // folders; empty for those of each package
	n         int
	seed      int64
	timeout   time.Duration

	killed, survived, uncompilable int
}

func main() {
	var r runner
	flag.IntVar(&r.n, "n", 30, "Maximum number of mutants of a package.")
	flag.Int64Var(&r.seed, "seed", 1, "Seed of the random choice.")
	flag.StringVar(&r.run, "run", "", "Regular expression of the tests to run.")
	flag.DurationVar(&r.timeout, "timeout", 2*time.Minute, "Maximum time of a mutant's tests.")
	tests := flag.String("tests", "", "Folders with the tests to run, separated by commas.")
	flag.Parse()
	if *tests != "" {
		r.tests = strings.Split(*tests, ",")
	}
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	r.root = strings.TrimSpace(string(out))
	for _, folder := range flag.Args() {
		if err == nil {
			err = r.mutate(folder)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	fmt.Printf("%d mutants killed, %d survived, %d did not compile\n", r.killed, r.survived, r.uncompilable)
}

func (r *runner) mutate(folder string) error {
	all, err := mutants(filepath.Join(r.root, folder), r.n, rand.New(rand.NewSource(r.seed)))
	if err != nil {
		return err
	}
	tests := r.tests
	if len(tests) == 0 {
		tests = []string{r.testFolder(folder)}
	}
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binaries, all, err := r.compile(dir, folder, tests, all)
	if err != nil {
		return err
	}
	for i, binary := range binaries {
		if failure, err := r.test(tests[i], binary, 0); failure != "" || err != nil {
			return fmt.Errorf("%s fails without a mutant: %s %w", tests[i], failure, err)
		}
	}
	for _, m := range all {
		failure := ""
		for i := 0; i < len(binaries) && failure == ""; i++ {
			if failure, err = r.test(tests[i], binaries[i], m.id); err != nil {
				return err
			}
		}
		label := "killed  "
		if r.killed++; failure == "" {
			r.killed, r.survived, label = r.killed-1, r.survived+1, "SURVIVED"
		}
		file, err := filepath.Rel(r.root, m.file)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s:%d: %s\n", label, file, m.line, failure)
		if failure == "" {
			fmt.Printf("\t- %s\n\t+ %s\n", strings.ReplaceAll(m.old, "\n", "\n\t- "), m.shown)
		}
	}
	return nil
}

// testFolder returns the nearest folder with tests: folder, or one that contains it.
func (r *runner) testFolder(folder string) string {
	for ; folder != "."; folder = filepath.Dir(folder) {
		if found, _ := filepath.Glob(filepath.Join(r.root, folder, "*_test.go")); len(found) > 0 {
			break
		}
	}
	return folder
}

var (
	faultyLine = regexp.MustCompile(`(?m)^([^\s:]+\.go):(\d+):`)
	clause     = regexp.MustCompile(`(?m)^package (\w+)`)
)

// compile builds a test binary with all mutants for each folder of tests. It returns the binaries
// and the mutants that compile.
func (r *runner) compile(dir, folder string, tests []string, all []mutant) (binaries []string, _ []mutant, err error) {
	if len(all) == 0 {
		return nil, nil, errors.New(folder + " has nothing to change")
	}
	text, err := os.ReadFile(all[0].file)
	if err != nil {
		return nil, nil, err
	}
	name := string(clause.FindSubmatch(text)[1])
	for {
		files, err := apply(filepath.Join(r.root, folder), name, all)
		if err != nil {
			return nil, nil, err
		}
		flag, err := overlay.Write(dir, files)
		if err != nil {
			return nil, nil, err
		}
		out, err := r.command("go", folder, "build", "-gcflags=-e", flag, ".").CombinedOutput()
		if err == nil {
			for i, folder := range tests {
				binaries = append(binaries, filepath.Join(dir, strconv.Itoa(i)+".test"))
				if out, err := r.command("go", folder, "test", "-c", "-vet=off", "-ldflags=-w", flag, "-o", binaries[i], ".").CombinedOutput(); err != nil {
					return nil, nil, fmt.Errorf("%s: %w\n%s", folder, err, out)
				}
			}
			return binaries, all, nil
		}
		faulty := map[string]bool{}
		for _, m := range faultyLine.FindAllSubmatch(out, -1) {
			faulty[filepath.Base(string(m[1]))+":"+string(m[2])] = true
		}
		left := slices.DeleteFunc(slices.Clone(all), func(m mutant) bool {
			for line := range 1 + strings.Count(m.old, "\n") {
				if faulty[filepath.Base(m.file)+":"+strconv.Itoa(m.line+line)] {
					return true
				}
			}
			return false
		})
		if len(left) == len(all) {
			return nil, nil, fmt.Errorf("%s: %w\n%s", folder, err, out)
		}
		r.uncompilable += len(all) - len(left)
		all = left
	}
}

func (r *runner) command(name, folder string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = filepath.Join(r.root, folder)
	return c
}

// test runs a binary with a mutant, or without one if id is 0. It returns the first failure, or "".
func (r *runner) test(folder, binary string, id int) (string, error) {
	c := r.command(binary, folder, "-test.failfast", "-test.short", "-test.timeout="+r.timeout.String(), "-test.run="+r.run)
	c.Env = append(os.Environ(), fmt.Sprint(variable, "=", id))
	out, err := c.CombinedOutput()
	if err == nil {
		return "", nil
	}
	if failure := overlay.Failure(out); failure != "" {
		return failure, nil
	}
	return err.Error(), nil
}
