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
	"strings"
	"syscall"
	"text/tabwriter"
)

// lastRelease is the commit of the last release, the default base.
const lastRelease = "f5371cde"

type options struct {
	base, tree string
	only       string
	runs       int
	record     bool
}

func main() {
	var o options
	flag.StringVar(&o.base, "base", lastRelease, "commit to compare with; it must be in the local repository")
	flag.StringVar(&o.tree, "tree", "..", "checkout to measure")
	flag.StringVar(&o.only, "only", "", "regular expression of the rows to measure")
	flag.IntVar(&o.runs, "runs", 5, "rounds")
	flag.BoolVar(&o.record, "record", false, "record the rows in bench/history and plot all recorded ones; needs a clean tree")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "speed: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	commit, err := git(ctx, o.tree, "describe", "--always", "--dirty", "--abbrev=8", "--exclude=*")
	if err != nil {
		return err
	}
	if o.record && (strings.HasSuffix(commit, "-dirty") || o.only != "" || o.base != lastRelease) {
		return errors.New("-record needs a tree without changes, all rows and the last release as base")
	}
	dir, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(ctx, dir, o)
	if err != nil {
		return err
	}
	var rows []Row
	for _, g := range groups {
		measured, err := g.measure(ctx, b, only, o.runs)
		if err != nil {
			return err
		}
		rows = append(rows, measured...)
	}
	if len(rows) == 0 {
		return errors.New("-only matches no row")
	}
	fmt.Printf("%s against %s: CPU time as a multiple, median and range of %d rounds\n\n", commit, o.base, o.runs)
	slower := writeTable(rows)
	if o.record {
		if err := record(ctx, o.tree, commit, rows); err != nil {
			return err
		}
	}
	if slower > 0 {
		return fmt.Errorf("%d rows are slower", slower)
	}
	return nil
}

// writeTable prints the rows and returns the number of rows that are slower than the base.
func writeTable(rows []Row) (slower int) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		verdict := ""
		if r.slower() {
			verdict = "slower"
			slower++
		}
		_, _ = fmt.Fprintf(t, "%s\t%.2f\t(%.2f to %.2f)\t%.4g %s\t%s\n", r.Name, r.Ratio, r.Low, r.High, r.Value, r.Unit, verdict)
	}
	_ = t.Flush()
	return slower
}

type builds struct{ bench, tree, base string }

func build(ctx context.Context, dir string, o options) (builds, error) {
	b := builds{bench: filepath.Join(dir, "bench"), tree: filepath.Join(dir, "troupe"), base: filepath.Join(dir, "troupe-base")}
	checkout := filepath.Join(dir, "base")
	if _, err := git(ctx, "..", "worktree", "add", "--quiet", "--detach", checkout, o.base); err != nil {
		return b, fmt.Errorf("-base %s: %w", o.base, err)
	}
	defer func() { _, _ = git(context.WithoutCancel(ctx), "..", "worktree", "remove", "--force", checkout) }()
	return b, errors.Join(
		goBuild(ctx, "..", b.bench, "./bench"),
		goBuild(ctx, o.tree, b.tree, "./cmd/troupe"),
		goBuild(ctx, checkout, b.base, "./cmd/troupe"))
}

func goBuild(ctx context.Context, dir, binary, program string) error {
	fmt.Fprintf(os.Stderr, "building %s of %s\n", program, dir)
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, program)
	c.Dir, c.Stderr, c.Env = dir, os.Stderr, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	return c.Run()
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
