//go:build unix

package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const events = `{"Action":"build-output","ImportPath":"example.com/b","Output":"b.go:1: undefined: x\n"}
{"Action":"output","Package":"example.com/a","Test":"TestX/one","Output":"one is wrong\n"}
{"Action":"fail","Package":"example.com/a","Test":"TestX/one","Elapsed":1.5}
{"Action":"fail","Package":"example.com/a","Test":"TestX","Elapsed":2}
{"Action":"output","Package":"example.com/a","Test":"TestY","Output":"not shown\n"}
{"Action":"pass","Package":"example.com/a","Test":"TestY","Elapsed":3}
{"Action":"output","Package":"example.com/a","Test":"TestZ","Output":"strace is missing\n"}
{"Action":"skip","Package":"example.com/a","Test":"TestZ"}
{"Action":"fail","Package":"example.com/a","Elapsed":4}
no event
`

// TestReadEvents checks that compiler errors are passed through, and that only failed and skipped
// tests keep their output.
func TestReadEvents(t *testing.T) {
	var other bytes.Buffer
	var got []string
	err := readEvents(strings.NewReader(events), &other, func(r result) {
		got = append(got, strings.TrimSpace(r.action+" "+r.name()+" "+r.elapsed.String()+" "+r.output))
	})
	want := []string{
		"fail example.com/a TestX/one 1.5s one is wrong", "fail example.com/a TestX 2s", "pass example.com/a TestY 3s",
		"skip example.com/a TestZ 0s strace is missing", "fail example.com/a 4s",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if want := "b.go:1: undefined: x\nno event\n"; other.String() != want {
		t.Errorf("got %q, want %q", &other, want)
	}
}

// TestReport checks that each failure is reported once, and that a stage fails if a test or its
// command fails.
func TestReport(t *testing.T) {
	var out bytes.Buffer
	r := &report{out: &out}
	r.stage("tests", func(ended func(result)) (time.Duration, error) {
		return time.Minute, errors.Join(readEvents(strings.NewReader(events), &out, ended), errors.New("exit status 1"))
	})
	r.stage("vet", func(func(result)) (time.Duration, error) { return 0, errors.New("exit status 2") })
	r.stage("nothing", func(func(result)) (time.Duration, error) { return 0, nil })
	if r.finish() {
		t.Error("it passed")
	}
	for text, times := range map[string]int{
		"--- example.com/a TestX/one failed\none is wrong\n": 1, "failed: example.com/a TestX/one\n": 1, "failed: example.com/a TestX\n": 0,
		"FAILED tests": 2, "FAILED vet": 2, "ok     nothing": 1, "4 tests, 1 skipped": 0, "3 tests, 1 skipped": 2,
		"skipped: example.com/a TestZ\n": 1, "    3s  example.com/a TestY\n": 1, "exit status 2": 1, "not shown": 0, "1m0s of CPU": 2,
	} {
		if n := strings.Count(out.String(), text); n != times {
			t.Errorf("%q is there %d times, want %d:\n%s", text, n, times, &out)
		}
	}
	passed := &report{out: &out}
	passed.stage("nothing", func(func(result)) (time.Duration, error) { return 0, nil })
	if !passed.finish() {
		t.Error("it failed")
	}
}

// TestTopics checks that every topic in raced.go has tests, and that every test listed there
// exists.
func TestTopics(t *testing.T) {
	var all []string
	for _, topic := range slices.Concat([]string{"storage/linear", "storage/quota"}, racedTopics, diskTopics) {
		names, err := topicTests("../..", topic)
		if err != nil || len(names) == 0 {
			t.Errorf("%s: %q, %v", topic, names, err)
		}
		all = append(all, names...)
	}
	for _, name := range append(strings.Split(strings.Trim(onEtcd, "^()$"), "|"), racedTests...) {
		if !slices.Contains(all, name) {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestTestFolder checks that a package without tests is tested by a parent directory.
func TestTestFolder(t *testing.T) {
	for dir, want := range map[string]string{
		"policy/remote": "policy", "policy/audit": "policy/audit", "kinds/api/core/pod": "kinds/api", "http/internal/wire": "http/internal/wire",
		"kinds/tree": "kinds", "": "",
	} {
		if got := testFolder("../../..", dir); got != want {
			t.Errorf("%q: got %q, want %q", dir, got, want)
		}
	}
}

// TestSelection checks that each kind of file selects the tests of its package or topic.
func TestSelection(t *testing.T) {
	c := checker{root: "../../..", module: "../.."}
	for file, want := range map[string]string{
		"kinds/tree/tree.go":                      "analyzed ./kinds/tree plain ./kinds generated",
		"kinds/api/core/core.proto":               "plain ./kinds/api generated",
		"kinds/api/core/testdata/pod.txt":         "plain ./kinds/api generated",
		"kinds/api/declarations.binpb":            "plain ./kinds/api generated",
		"policy/admission/plugins.yaml":           "raced ./policy generated",
		"cmd/troupe/daemon/settings.ini":          "raced ./cmd/troupe/daemon",
		"actors/controllers/tokens/doc.go":        "analyzed ./actors/controllers/tokens plain ./actors/controllers/tokens raced ./actors/controllers",
		"actors/controllers/testdata/kills.txt":   "raced ./actors/controllers",
		"http/internal/console/dist/index.html":   "raced ./http",
		"test/tools/lint/testdata/prose.go":       "tools ./tools/lint",
		"test/tools/check/main.go":                "analyzed ./test/tools/check tools ./tools/check",
		"test/api/drift_test.go":                  "analyzed ./test/api topic api/drift",
		"test/api/testdata/warnings/cases.json":   "topic api/warnings",
		"test/extension/testdata/controllers.txt": "rest test/extension/testdata/controllers.txt",
		"test/transcript/doc.go":                  "analyzed ./test/transcript rest test/transcript/doc.go",
		"test/cluster/kwok/build.sh":              "",
		"docs/kinds.md":                           "",
		"docs/deploy/config/deployment.yaml":      "",
		"Makefile":                                "",
	} {
		s, err := c.selection([]string{file})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, list := range []struct {
			name  string
			items []string
		}{{"analyzed", s.analyzed}, {"plain", s.plain}, {"raced", s.raced}, {"tools", s.tools}, {"rest", s.rest}} {
			if len(list.items) > 0 {
				got = append(append(got, list.name), list.items...)
			}
		}
		for _, names := range s.tests {
			got = append(got, names...)
		}
		want, topic, isTopic := strings.Cut(want, "topic ")
		if isTopic {
			names, err := topicTests(c.module, topic)
			if err != nil || len(names) == 0 {
				t.Fatal(err, names)
			}
			want += strings.Join(names, " ")
		}
		if s.generatedFiles {
			got = append(got, "generated")
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}
