//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	changed := flag.Bool("changed", false, "Run only what the changes since origin/main need.")
	rounds := flag.Int("flakes", 0, "Run the suites so many `times`, under load.")
	stages := flag.String("stages", "", "Run only the stages whose names match this `pattern`.")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := check(ctx, *stages, *changed, *rounds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// A checker runs the stages in a clone of the repository.
type checker struct {
	*report
	root   string // repository root
	module string // directory of the module test
	// memoryDir is a tmpfs directory for suites that do not test the disk, or "".
	memoryDir string
}

func check(ctx context.Context, stages string, changed bool, rounds int) (ok bool, err error) {
	selected, err := regexp.Compile(stages)
	if err != nil {
		return false, fmt.Errorf("-stages: %w", err)
	}
	root, err := repository()
	if err != nil {
		return false, err
	}
	c := checker{report: &report{out: os.Stdout, selected: selected, began: time.Now()}, root: root, module: filepath.Join(root, "test")}
	if c.missing = missingTools(c.out); len(c.missing) > 0 && os.Getenv("CI") != "" {
		return false, errors.New("CI needs all tools")
	}
	if err := c.download(ctx); err != nil {
		return false, err
	}
	if err := os.Setenv("CGO_ENABLED", "0"); err != nil {
		return false, err
	}
	var remove func()
	c.memoryDir, remove = memoryDir()
	defer remove()
	switch {
	case rounds > 0:
		err = c.flakes(ctx, rounds)
	case changed:
		err = c.changed(ctx)
	default:
		err = c.all(ctx)
	}
	return c.finish(), err
}

// all runs every stage that must pass before a change is merged.
func (c checker) all(ctx context.Context) error {
	c.stage("analysis", c.make(ctx, "lint"))
	plain, raced, err := c.packages(ctx)
	if err != nil {
		return err
	}
	c.stage("packages", c.test(ctx, c.root, nil, plain...))
	c.stage("packages, race detector", c.test(ctx, c.root, []string{withCgo}, append([]string{"-race"}, raced...)...))
	if err := c.suites(ctx); err != nil {
		return err
	}
	if len(c.stages) == 0 {
		return fmt.Errorf("-stages: no stage matches %q", c.selected)
	}
	return ctx.Err()
}

// withCgo enables cgo, which the race detector requires. Other builds disable cgo, so that packages
// are compiled only once.
const withCgo = "CGO_ENABLED=1"

// withoutDWARF saves more than half of the CPU time for linking, without affecting stack traces.
const withoutDWARF = "-ldflags=-w"

// test returns a step that runs go test. The timeout allows for a busy machine.
func (c checker) test(ctx context.Context, dir string, env []string, args ...string) step {
	return run{dir: dir, args: append([]string{"test", "-json", "-vet=off", withoutDWARF, "-timeout=1h"}, args...), env: env}.step(ctx)
}

// make returns a step that runs a target of the Makefile and shows its output only on failure.
func (c checker) make(ctx context.Context, target string) step {
	return func(func(result)) (time.Duration, error) {
		command := exec.CommandContext(ctx, "make", "-s", target)
		command.Dir = c.root
		out, err := command.CombinedOutput()
		if err != nil {
			fmt.Fprintf(c.out, "%s", out)
		}
		return cpu(command), err
	}
}

// packages lists the packages of the main module. raced lists those that run with the race
// detector.
func (c checker) packages(ctx context.Context) (plain, raced []string, err error) {
	command := exec.CommandContext(ctx, "go", "list", "./...")
	command.Dir, command.Stderr = c.root, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	for _, p := range strings.Fields(string(out)) {
		if racedPackages.MatchString(strings.TrimPrefix(p, "github.com/troupe-api/troupe/")) {
			raced = append(raced, p)
		} else {
			plain = append(plain, p)
		}
	}
	return plain, raced, nil
}

// download downloads the modules. Before the first download, it prints how long this may take.
func (c checker) download(ctx context.Context) error {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	if _, err := os.Stat(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download", "k8s.io")); err == nil {
		return nil
	}
	fmt.Fprintln(c.out, "downloading the modules of the tests, about 500 MB, and compiling everything once: 10 to 30 minutes on two CPUs")
	for _, dir := range []string{c.root, c.module} {
		command := exec.CommandContext(ctx, "go", "mod", "download")
		command.Dir, command.Stderr = dir, os.Stderr
		if err := command.Run(); err != nil {
			return fmt.Errorf("go mod download: %w", err)
		}
	}
	return nil
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func (c checker) git(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = c.root
	out, err := command.Output()
	return string(out), err
}

func (c checker) golang(ctx context.Context, args ...string) step {
	return func(func(result)) (time.Duration, error) {
		command := exec.CommandContext(ctx, "go", args...)
		command.Dir, command.Stdout, command.Stderr = c.root, c.out, c.out
		err := command.Run()
		return cpu(command), err
	}
}

func repository() (string, error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
