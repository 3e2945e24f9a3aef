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

// groups are those of the suite that are run, in the order in which they are told of.
var groups = []string{"api-machinery", "auth", "apps", "network", "node", "storage", "scheduling", "instrumentation", "cli"}

// A suite is the tests that are to be run, and how many of each group cannot be run here.
type suite struct {
	tests        []string       // names, as the suite prints them
	inapplicable map[string]int // by group
}

// location is what the suite prints in front of the name of a test.
var location = regexp.MustCompile(`^\s*\S+:\d+: `)

// newSuite lists the tests of a program whose names match an expression, and not another one unless that is nil. Those whose names match a line of
// the file inapplicable are only counted.
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

// readInapplicable reads the expressions of tests that cannot be run here.
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

// groupOf is the group of a test; "" for one of none of the groups.
func groupOf(name string) string {
	for _, g := range groups {
		if strings.Contains(name, "[sig-"+g+"]") {
			return g
		}
	}
	return ""
}

// isSerial tells whether a test may not run beside others.
func isSerial(name string) bool {
	return strings.Contains(name, "[Serial]") || strings.Contains(name, "[Disruptive]")
}
