package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// groups lists the SIGs whose tests run, in the order of the report.
var groups = []string{"api-machinery", "auth", "apps", "network", "node", "storage", "scheduling", "instrumentation", "cli"}

// A suite contains the tests to run, and the number of inapplicable tests per group.
type suite struct {
	tests        []string       // names, as the suite prints them
	inapplicable map[string]int // number of inapplicable tests by group
}

// location matches the prefix of a test name in the suite's list.
var location = regexp.MustCompile(`^\s*\S+:\d+: `)

// newSuite lists the program's tests whose names match focus but not without, which may be nil. It
// counts tests that match a line of the file inapplicable, but does not list them.
func newSuite(program, inapplicable string, focus, without *regexp.Regexp) (*suite, error) {
	needs, err := readInapplicable(inapplicable)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command(program, "--list-tests").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --list-tests: %w", program, err)
	}
	s := &suite{inapplicable: map[string]int{}}
	for line := range strings.Lines(string(out)) {
		head := location.FindString(line)
		name := strings.TrimSpace(line[len(head):])
		switch {
		case head == "" || groupOf(name) == "" || !focus.MatchString(name) || without != nil && without.MatchString(name):
		case slices.ContainsFunc(needs, func(e *regexp.Regexp) bool { return e.MatchString(name) }):
			s.inapplicable[groupOf(name)]++
		default:
			s.tests = append(s.tests, name)
		}
	}
	slices.Sort(s.tests)
	return s, nil
}

func readInapplicable(path string) (all []*regexp.Regexp, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ">") {
			continue
		}
		e, err := regexp.Compile(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, e)
	}
	return all, lines.Err()
}

func groupOf(name string) string {
	for _, g := range groups {
		if strings.Contains(name, "[sig-"+g+"]") {
			return g
		}
	}
	return ""
}

func isSerial(name string) bool {
	return strings.Contains(name, "[Serial]") || strings.Contains(name, "[Disruptive]")
}
