//go:build unix

package main

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A selection is what a set of changed files needs to run.
type selection struct {
	analyzed       []string // packages with changed Go files
	plain, raced   []string // packages of the main module to test; raced with the race detector
	tools          []string
	tests          map[string][]string // test names by suite
	generatedFiles bool                // whether to compare generated files with their sources
	rest           []string            // files that only make test covers
}

// changed runs analysis and tests for the packages that differ from origin/main.
func (c checker) changed(ctx context.Context) error {
	files, err := c.changedFiles(ctx)
	if err != nil {
		return err
	}
	s, err := c.selection(files)
	if err != nil {
		return err
	}
	for _, file := range s.rest {
		fmt.Fprintf(c.out, "%s is part of several tests: make test runs them\n", file)
	}
	if len(s.analyzed) > 0 {
		c.stage("analysis", c.golang(ctx, append([]string{"run", "-C=test", "./tools/lint"}, s.analyzed...)...))
	}
	if s.generatedFiles {
		c.stage("generated files", c.golang(ctx, "run", "./kinds/internal/gen", "-check"))
	}
	if len(s.plain) > 0 {
		c.stage("packages", c.test(ctx, c.root, nil, s.plain...))
	}
	if len(s.raced) > 0 {
		c.stage("packages, race detector", c.test(ctx, c.root, []string{withCgo}, append([]string{"-race"}, s.raced...)...))
	}
	if len(s.tools) > 0 {
		c.stage("tools of the tests", c.test(ctx, c.module, nil, append([]string{"-count=1"}, s.tools...)...))
	}
	for _, suite := range suites {
		if names := s.tests[suite]; len(names) > 0 {
			c.stage("suite "+suite, c.test(ctx, c.module, c.environment(suite == onDisk), "-count=1", "-run="+only(names), "./"+suite))
		}
	}
	if len(c.stages) == 0 {
		fmt.Fprintln(c.out, "no package differs from origin/main")
	}
	return ctx.Err()
}

// selection selects the packages and tests of changed files. Other files than Go belong to the
// package that embeds them or reads them in its tests.
func (c checker) selection(files []string) (selection, error) {
	s := selection{tests: map[string][]string{}}
	for _, file := range files {
		dir := packageFolder(c.root, file)
		isGo := strings.HasSuffix(file, ".go") && path.Dir(file) == dir
		suite, inTest := strings.CutPrefix(dir, "test/")
		if dir == "" || path.Ext(file) == ".md" {
			continue
		}
		if isGo {
			s.analyzed = append(s.analyzed, "./"+dir)
		}
		switch {
		case inTest && slices.Contains(suites, suite):
			if err := s.addTopic(c.module, suite, strings.TrimPrefix(file, dir+"/")); err != nil {
				return s, err
			}
		case inTest && strings.HasPrefix(suite, "tools/"):
			s.tools = append(s.tools, "./"+suite)
		case inTest:
			s.rest = append(s.rest, file)
		default:
			s.generatedFiles = s.generatedFiles || strings.HasPrefix(file, "kinds/") || !isGo && isTable(file)
			s.addPackage(c.root, dir)
		}
	}
	for _, list := range []*[]string{&s.analyzed, &s.plain, &s.raced, &s.tools, &s.rest} {
		*list = unique(*list)
	}
	return s, nil
}

// addPackage adds the tests of a package of the main module.
func (s *selection) addPackage(root, dir string) {
	if strings.HasPrefix(dir, "actors/controllers/") { // most tests of these packages are in the parent
		s.raced = append(s.raced, "./actors/controllers")
	}
	if tests := testFolder(root, dir); racedPackages.MatchString(tests) {
		s.raced = append(s.raced, "./"+tests)
	} else {
		s.plain = append(s.plain, "./"+tests)
	}
}

// addTopic adds the tests of the topic of a file in a suite, such as apply_test.go,
// testdata/apply.txt or testdata/apply/x.txt.
func (s *selection) addTopic(module, suite, file string) error {
	below, isData := strings.CutPrefix(file, "testdata/")
	if !isData && !strings.HasSuffix(file, ".go") {
		return nil // a build script
	}
	topic, _, _ := strings.Cut(strings.TrimSuffix(file, "_test.go"), "_")
	if isData {
		name, _, _ := strings.Cut(below, "/")
		topic, _, _ = strings.Cut(strings.TrimSuffix(name, path.Ext(name)), "_")
	}
	tests, err := topicTests(module, filepath.Join(suite, topic))
	if isData && len(tests) == 0 {
		s.rest = append(s.rest, path.Join("test", suite, file))
	}
	s.tests[suite] = append(s.tests[suite], tests...)
	return err
}

// isTable reports whether a file may be the source or the result of make generate.
func isTable(file string) bool { return path.Ext(file) == ".yaml" || path.Ext(file) == ".json" }

// packageFolder returns the directory of the package to which a file belongs: the nearest directory
// with Go files, outside testdata. It returns "" if there is none.
func packageFolder(root, file string) string {
	dir, _, _ := strings.Cut(path.Dir(file)+"/", "/testdata/")
	for dir = path.Clean(dir); dir != "."; dir = path.Dir(dir) {
		if files, err := filepath.Glob(filepath.Join(root, dir, "*.go")); err == nil && len(files) > 0 {
			return dir
		}
	}
	return ""
}

// testFolder returns dir, or its nearest parent with tests if there are none in dir. Without any
// tests, it returns dir.
func testFolder(root, dir string) string {
	for folder := dir; folder != "." && folder != ""; folder = filepath.Dir(folder) {
		if files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go")); err == nil && len(files) > 0 {
			return folder
		}
	}
	return dir
}

// changedFiles returns untracked files, and files that differ from origin/main, or from HEAD if
// there is no origin/main.
func (c checker) changedFiles(ctx context.Context) (files []string, err error) {
	base := "HEAD"
	if out, err := c.git(ctx, "merge-base", "HEAD", "origin/main"); err == nil {
		base = strings.TrimSpace(out)
	}
	for _, args := range [][]string{{"diff", "--name-only", "--diff-filter=d", base}, {"ls-files", "--others", "--exclude-standard"}} {
		out, err := c.git(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("git %s: %w", args[0], err)
		}
		files = append(files, strings.Fields(out)...)
	}
	return files, nil
}
