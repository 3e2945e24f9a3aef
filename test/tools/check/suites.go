//go:build unix

package main

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// A suiteRun runs all or some tests of a suite.
type suiteRun struct {
	name      string
	folder    string // directory relative to the module test
	race      bool   // whether to use the race detector
	disk      bool   // whether test files are on disk instead of in memory
	args, env []string
}

// suiteRuns returns the test runs of make test, longest first.
func (c checker) suiteRuns() ([]suiteRun, error) {
	raced, err := testsOf(c.module, racedTopics)
	if err != nil {
		return nil, err
	}
	raced = append(raced, racedTests...)
	aboutDisk, err := testsOf(c.module, diskTopics)
	if err != nil {
		return nil, err
	}
	run, skip := "-test.run="+only(raced), "-test.skip="+only(raced)
	runs := []suiteRun{
		{name: "suite storage, on disk", folder: "storage", disk: true, args: []string{"-test.run=" + only(aboutDisk)}},
		{name: "suite storage", folder: "storage", args: []string{"-test.skip=" + only(slices.Concat(raced, aboutDisk))}},
		{name: "suite clients", folder: "clients"},
		{name: "suite storage, race detector", folder: "storage", race: true, args: []string{run}},
		{name: "suite storage on etcd, race detector", folder: "storage", race: true, args: []string{"-test.run=" + onEtcd}, env: []string{"TROUPE_STORE=etcd", "TROUPE_DAEMONS=3"}},
		{name: "suite policy on etcd", folder: "policy", args: []string{"-test.run=^TestHostileUser$"}, env: []string{"TROUPE_STORE=etcd"}},
		{name: "suite cluster", folder: "cluster"},
		{name: "suite extension", folder: "extension"},
		{name: "suite policy", folder: "policy", args: []string{skip}},
		{name: "suite api", folder: "api"},
		{name: "suite policy, race detector", folder: "policy", race: true, args: []string{run}},
		{name: "transcripts", folder: "transcript"},
	}
	for i, r := range runs {
		runs[i].env = append(c.environment(r.disk), r.env...)
	}
	tools, err := filepath.Glob(filepath.Join(c.module, "tools", "*", "*_test.go"))
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, file := range tools {
		folders = append(folders, filepath.Base(filepath.Dir(file)))
	}
	for _, tool := range unique(folders) {
		runs = append(runs, suiteRun{name: "tool " + tool, folder: "tools/" + tool})
	}
	return runs, nil
}

// binary returns the path of a directory's test binary. Binaries are kept between runs, so that
// they are relinked only after changes.
func (c checker) binary(folder string, race bool) string {
	dir := "tests"
	if race {
		dir = "tests-race"
	}
	return filepath.Join(c.root, "bin", dir, filepath.Base(folder)+".test")
}

// build builds the test binaries of directories and reports whether it succeeded.
func (c checker) build(ctx context.Context, race bool, folders []string) bool {
	name := "build suites"
	var env []string
	args := []string{"test", "-vet=off", withoutDWARF, "-c", "-o", filepath.Dir(c.binary("", race)) + "/"}
	if race {
		name += ", race detector"
		args, env = append(args, "-race"), []string{withCgo}
	}
	for _, f := range folders {
		args = append(args, "./"+f)
	}
	return c.always(name, run{dir: c.module, args: args, env: env}.step(ctx))
}

// run returns a step that runs a test binary. The timeout allows for a busy machine.
func (c checker) run(ctx context.Context, s suiteRun) step {
	args := []string{"tool", "test2json", "-t", "-p", "test/" + s.folder, c.binary(s.folder, s.race), "-test.v=test2json", "-test.timeout=4h"}
	return run{dir: filepath.Join(c.module, s.folder), args: append(args, s.args...), env: s.env}.step(ctx)
}

// suites builds and runs the selected suites. It runs more suites than there are CPUs, because
// tests are often idle.
func (c checker) suites(ctx context.Context) error {
	all, err := c.suiteRuns()
	if err != nil {
		return err
	}
	var runs []suiteRun
	programs := map[bool][]string{} // test binaries, keyed by use of the race detector
	for _, r := range all {
		if c.selects(r.name) {
			runs = append(runs, r)
			programs[r.race] = append(programs[r.race], r.folder)
		}
	}
	for _, race := range []bool{false, true} {
		if len(programs[race]) > 0 && !c.build(ctx, race, unique(programs[race])) {
			return nil // the report contains the error
		}
	}
	program := filepath.Join(c.root, "bin", "tests", "troupe")
	if !c.always("build troupe", c.golang(ctx, "build", "-ldflags=-s -w", "-o", program, "./cmd/troupe")) {
		return nil
	}
	slots := make(chan struct{}, runtime.NumCPU()+2)
	var running sync.WaitGroup
	for _, r := range runs {
		r.env = append(r.env, "TROUPE_PROGRAM="+program)
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() == nil {
				c.stage(r.name, c.run(ctx, r))
			}
		})
	}
	running.Wait()
	return nil
}

// environment returns environment variables for tests, whose files are on disk if disk is true, and
// otherwise in memory.
func (c checker) environment(disk bool) []string {
	env := []string{"GOGC=400"} // saves a fifth of the CPU time
	if !disk && c.memoryDir != "" {
		env = append(env, "TMPDIR="+c.memoryDir)
	}
	return env
}
