package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
)

func main() {
	minutes := flag.Float64("minutes", 60, "How long all of it takes.")
	pattern := flag.String("run", "", "Regular expression of the names of parts to run, which then share the time; all if it is empty.")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, time.Duration(*minutes*float64(time.Minute)), *pattern)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

type result struct {
	part
	took    time.Duration
	figures []string
	err     error
}

func run(ctx context.Context, whole time.Duration, pattern string) error {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	root, commit, err := repository()
	if err != nil {
		return err
	}
	fuzzing, err := fuzzParts(root)
	if err != nil {
		return err
	}
	unwanted := func(p part) bool { return !match.MatchString(p.name) }
	all := slices.DeleteFunc(parts(), unwanted)
	fuzzing = slices.DeleteFunc(fuzzing, unwanted)
	times := plan(all, fuzzing, whole)
	all = append(all, fuzzing...)
	if len(all) == 0 {
		return errors.New("no part has such a name")
	}
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(bin, "soak.log"))
	if err != nil {
		return err
	}
	results := make([]result, 0, len(all))
	for i, p := range all {
		fmt.Printf("%s  %d of %d: %s, %v\n", time.Now().Format(time.TimeOnly), i+1, len(all), p.name, times[i].Round(time.Second))
		r := p.run(ctx, root, times[i], log)
		for _, line := range r.lines() {
			fmt.Printf("          %s\n", line)
		}
		if results = append(results, r); ctx.Err() != nil {
			break
		}
	}
	return errors.Join(report(results, commit), ctx.Err(), log.Close())
}

func repository() (root, commit string, err error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", "", err
	}
	described, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	return strings.TrimSpace(string(out)), strings.TrimSpace(string(described)), err
}

// run runs a part for about the given duration. If the part takes much longer, run kills its
// process and all children.
func (p part) run(ctx context.Context, root string, long time.Duration, log io.Writer) (r result) {
	const grace = 5 * time.Minute // time for building and finishing
	ctx, cancel := context.WithTimeout(ctx, 2*long+grace)
	defer cancel()
	text := long.Round(time.Second).String()
	words := strings.Fields(strings.Replace(p.command, "%s", text, 1))
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Dir = filepath.Join(root, p.folder)
	c.Env = append(append(os.Environ(), "TROUPE_SOAK="+text), p.environment...)
	processes.InOwnGroup(c)
	c.Cancel = func() error { return processes.KillGroup(c) }
	c.WaitDelay = 10 * time.Second
	read, write := io.Pipe()
	c.Stdout, c.Stderr = write, write
	fmt.Fprintf(log, "=== %s: %s\n", p.name, strings.Join(words, " "))
	type reading struct{ figures, lacking []string }
	reported := make(chan reading, 1)
	go func() {
		figures, lacking := figuresOf(io.TeeReader(read, log))
		reported <- reading{figures, lacking}
	}()
	r, begin := result{part: p}, time.Now()
	r.err = c.Run()
	r.took = time.Since(begin).Round(time.Second)
	_ = write.Close() // an in-memory pipe cannot fail
	said := <-reported
	if r.figures = said.figures; r.err == nil && len(said.lacking) > 0 {
		r.err = fmt.Errorf("not run: %s", strings.Join(said.lacking, "; "))
	}
	return r
}

var (
	figure   = regexp.MustCompile(`: tried: (.*)`)
	failure  = regexp.MustCompile(`^\s*--- FAIL: (\S+)|^(panic: .*)|^\s+(failed operations.*|Failing input written to .*)`)
	progress = regexp.MustCompile(`^fuzz: elapsed: \S+, (execs: \d+) \(.*\), (new interesting: \d+ \(total: \d+\))`)
	growth   = regexp.MustCompile(`^soak +\S.*`)
	absent   = regexp.MustCompile(`warning: no (?:fuzz )?tests to (?:run|fuzz)|this machine (?:mounts|traces) nothing.*`)
)

// figuresOf extracts lines from a part's output: figures about completed work and failures, and
// lacking about tests that could not run.
func figuresOf(in io.Reader) (figures, lacking []string) {
	fuzzed := ""
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		line = strings.TrimRight(line, "\n")
		if m := figure.FindStringSubmatch(line); m != nil {
			figures = append(figures, m[1])
		} else if m := progress.FindStringSubmatch(line); m != nil {
			fuzzed = m[1] + ", " + m[2]
		} else if m := absent.FindString(line); m != "" {
			lacking = append(lacking, m)
		} else if failure.MatchString(line) {
			figures = append(figures, strings.TrimSpace(line))
		} else if growth.MatchString(line) {
			figures = append(figures, strings.Join(strings.Fields(line), " "))
		}
		if err != nil {
			break
		}
	}
	if fuzzed != "" {
		figures = append(figures, fuzzed)
	}
	return figures, lacking
}

func (r result) lines() []string {
	verdict := "nothing found"
	if r.err != nil {
		verdict = "FAILED: " + r.err.Error()
	}
	return append(slices.Clone(r.figures), fmt.Sprintf("%s, in %v", verdict, r.took))
}

// report prints the results as the table for docs/reliability.md.
func report(results []result, commit string) error {
	fmt.Printf("\nwhat was tried at %s on %s; the whole log is bin/soak.log\n\n| Part | Time | Tried | Found |\n|---|---|---|---|\n", commit, time.Now().UTC().Format(time.DateOnly))
	failed := 0
	for _, r := range results {
		found := "nothing"
		if r.err != nil {
			failed++
			found = r.err.Error()
		}
		fmt.Printf("| %s | %v | %s | %s |\n", r.name, r.took, strings.Join(r.figures, "; "), found)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d parts failed", failed, len(results))
	}
	return nil
}
