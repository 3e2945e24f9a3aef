package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPlan checks that the parts use all the time, and that all fuzz targets are found.
func TestPlan(t *testing.T) {
	root, _, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	fuzzing, err := fuzzParts(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"persist FuzzSegment", "kinds/codec FuzzDecodeJSON", "test/api FuzzCBOR"} {
		if !slices.ContainsFunc(fuzzing, func(p part) bool { return p.name == name }) {
			t.Errorf("%s is not found", name)
		}
	}
	sum := time.Duration(0)
	for _, d := range plan(parts(), fuzzing, time.Hour) {
		sum += d
	}
	if sum > time.Hour || sum < 59*time.Minute {
		t.Errorf("the parts of an hour take %v", sum)
	}
}

func TestFiguresOf(t *testing.T) {
	got, lacking := figuresOf(strings.NewReader(`=== RUN   TestKills
    crash_test.go:57: tried: 30 kills
    crash_test.go:58: something else
--- FAIL: TestKills (3.00s)
fuzz: elapsed: 3s, execs: 10 (3/sec), new interesting: 0 (total: 7)
fuzz: elapsed: 6s, execs: 25 (5/sec), new interesting: 1 (total: 8)
    crash_test.go:60: this machine mounts nothing (no loop device)
testing: warning: no tests to run
`))
	want := []string{"30 kills", "--- FAIL: TestKills (3.00s)", "execs: 25, new interesting: 1 (total: 8)"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if want := []string{"this machine mounts nothing (no loop device)", "warning: no tests to run"}; !slices.Equal(lacking, want) {
		t.Errorf("lacking is %q", lacking)
	}
}

// TestRun checks that failures are reported with their output, and that parts without tests fail.
func TestRun(t *testing.T) {
	var log strings.Builder
	good := part{name: "good", folder: ".", command: "echo x: tried: %s"}.run(t.Context(), t.TempDir(), 2*time.Second, &log)
	if good.err != nil || !slices.Equal(good.figures, []string{"2s"}) || !strings.Contains(log.String(), "tried: 2s") {
		t.Errorf("%+v, log %q", good, log.String())
	}
	empty := part{name: "empty", folder: ".", command: "echo testing: warning: no tests to run"}.run(t.Context(), t.TempDir(), time.Second, &log)
	if empty.err == nil {
		t.Errorf("%+v", empty)
	}
	bad := part{name: "bad", folder: ".", command: "ls /no/such/folder"}.run(t.Context(), t.TempDir(), time.Second, &log)
	if bad.err == nil || report([]result{good, bad}, "a commit") == nil {
		t.Errorf("%+v", bad)
	}
}
