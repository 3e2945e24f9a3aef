// Command lint checks the format of all Go files, and the prose of sources and documents. It also
// runs the analyzers of go vet, staticcheck and this project in one pass over each module. It
// prints findings in the form
//
//	FILE:LINE: MESSAGE (ANALYZER)
//
// and fails if there are any. Results are cached in the user's cache directory. A comment on the
// line above suppresses a finding:
//
//	//lint:ignore ANALYZER REASON
//
// Arguments are package patterns relative to the root, such as ./kinds/... and ./test/storage.
// Without arguments it checks all packages. With -all it also checks files that build tags exclude
// by default because of large dependencies.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// vet lists the analyzers of go vet, except for the assembly and cgo analyzers.
var vet = []*analysis.Analyzer{
	appends.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer, composite.Analyzer, copylock.Analyzer,
	defers.Analyzer, directive.Analyzer, errorsas.Analyzer, hostport.Analyzer, httpresponse.Analyzer, ifaceassert.Analyzer,
	loopclosure.Analyzer, lostcancel.Analyzer, nilfunc.Analyzer, printf.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, slog.Analyzer,
	stdmethods.Analyzer, stdversion.Analyzer, stringintconv.Analyzer, structtag.Analyzer, testinggoroutine.Analyzer, tests.Analyzer,
	timeformat.Analyzer, unmarshal.Analyzer, unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer, waitgroup.Analyzer,
}

// A finding is one line of the output. Its fields match the JSON output of staticcheck.
type finding struct {
	Code     string
	Location struct {
		File string
		Line int
	}
	Message string
}

func main() {
	all := flag.Bool("all", false, "check the files of the tags chromium and share, too")
	flag.Parse()
	findings, err := check(*all, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Printf("%s:%d: %s (%s)\n", f.Location.File, f.Location.Line, f.Message, f.Code)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// check returns the sorted findings for both modules. The working directory must be in the
// repository.
func check(all bool, patterns []string) ([]finding, error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return nil, fmt.Errorf("find the root of the sources: %w", err)
	}
	root := strings.TrimSpace(string(out))
	if err := os.Chdir(root); err != nil {
		return nil, err
	}
	findings, err := unformatted()
	if err != nil {
		return nil, err
	}
	inProse, err := unidiomatic()
	if err != nil {
		return nil, err
	}
	findings = append(findings, inProse...)
	inMain, inTests := []string{"./..."}, []string{"./..."}
	if len(patterns) > 0 {
		inMain, inTests = nil, nil
		for _, p := range patterns {
			if rest, ok := strings.CutPrefix(p, "./test/"); ok {
				inTests = append(inTests, "./"+rest)
			} else {
				inMain = append(inMain, p)
			}
		}
	}
	forMain := slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers, []*lint.Analyzer{unused.Analyzer})
	tags := "etcd,shells"
	if all {
		tags += ",chromium,share"
	}
	analyzed, err := analyze(root, "", inMain, forMain)
	if err != nil {
		return nil, err
	}
	more, err := analyze(filepath.Join(root, "test"), tags, inTests, nil)
	if err != nil {
		return nil, err
	}
	for _, f := range append(analyzed, more...) {
		if filepath.IsAbs(f.Location.File) { // packages that cannot be loaded have no position
			if f.Location.File, err = filepath.Rel(root, f.Location.File); err != nil {
				return nil, err
			}
		}
		findings = append(findings, f)
	}
	slices.SortFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Location.File, b.Location.File), cmp.Compare(a.Location.Line, b.Location.Line), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(findings), nil
}

func unformatted() (findings []finding, err error) {
	out, err := exec.Command("git", "ls-files", "-co", "--exclude-standard", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("list the sources: %w", err)
	}
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, but still in the index
		}
		if err != nil {
			return nil, err
		}
		formatted, err := format.Source(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%w", file, err)
		}
		if !bytes.Equal(text, formatted) {
			f := finding{Code: "gofmt", Message: "not formatted"}
			f.Location.File, f.Location.Line = file, 1+bytes.Count(text[:commonPrefix(text, formatted)], []byte("\n"))
			findings = append(findings, f)
		}
	}
	return findings, nil
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// analyze runs the given analyzers, vet and walltime on packages of the module in folder. It uses
// the same export data as go test, which is usually cached.
func analyze(folder, tags string, patterns []string, analyzers []*lint.Analyzer) (findings []finding, err error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	if err := os.Chdir(folder); err != nil {
		return nil, err
	}
	command := lintcmd.NewCommand("lint")
	command.ParseFlags(append([]string{"-f", "json", "-tags", tags}, patterns...))
	command.AddAnalyzers(analyzers...)
	command.AddBareAnalyzers(vet...)
	command.AddBareAnalyzers(walltime)
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout := os.Stdout
	os.Stdout = write // where the command writes
	code := make(chan int, 1)
	go func() {
		code <- command.Execute()
		write.Close()
	}()
	for d := json.NewDecoder(read); ; {
		var f finding
		if err = d.Decode(&f); err != nil {
			break
		}
		findings = append(findings, f)
	}
	os.Stdout = stdout
	if exit := <-code; exit != 0 && len(findings) == 0 {
		return nil, fmt.Errorf("analysis in %s failed with exit code %d", folder, exit)
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	return findings, nil
}
