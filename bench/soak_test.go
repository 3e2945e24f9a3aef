package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The soak on the real daemon, too short for a verdict.
func TestSoak(t *testing.T) {
	s := startTroupe(t)
	s.Duration, s.Scale = 2*time.Second, 0.2
	results, err := soak(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	all := row(t, results, "soak")
	if all.Sample.Errors > 0 || all.Sample.Operations < 200 || all.Figure == nil {
		t.Errorf("%d operations, %d errors, first %q", all.Sample.Operations, all.Sample.Errors, all.Sample.FirstError)
	}
	for _, name := range []string{"get", "list", "update", "patch", "apply", "replace", "watch", "watch to its end", "namespace", "account"} {
		if r := row(t, results, "soak, "+name); r.Sample.Operations == 0 {
			t.Errorf("no %s", name)
		}
	}
	var lines []string
	for _, line := range all.Course.Lines {
		lines = append(lines, line.Name)
		if line.Name == "heap in use after a collection" && line.Moments[0].Value <= 0 {
			t.Errorf("heap %v", line.Moments)
		}
	}
	if len(lines) != len(monitoredMetrics)+1 {
		t.Errorf("lines %s", strings.Join(lines, ", "))
	}
}

func TestSoakNeedsNoMetrics(t *testing.T) {
	_, kubeconfig := startFake(t)
	s := session(t, kubeconfig)
	s.Duration = 50 * time.Millisecond
	l := startSoakMonitor(s)
	if course := l.stop(); len(course.Lines) != 0 || len(course.trends()) != 0 {
		t.Errorf("%+v", course)
	}
}

func TestPaced(t *testing.T) {
	step := paced(1_000, func(*Conn, int) (int, error) { return 7, nil })
	begin := time.Now()
	for n := range 21 {
		if size, err := step(nil, n); size != 7 || err != nil {
			t.Fatal(size, err)
		}
	}
	if took := time.Since(begin); took < 20*time.Millisecond {
		t.Errorf("21 operations at 1,000 a second took %v", took)
	}
}

func TestMetricsAddUp(t *testing.T) {
	f := metrics{`a{x="1"}`: 1, `a{x="2"}`: 2, "ab": 4, "c": 8}
	if sum, found := f.sum("a"); sum != 3 || !found {
		t.Errorf("a is %v, %t", sum, found)
	}
	if sum, found := f.sum("c"); sum != 8 || !found {
		t.Errorf("c is %v, %t", sum, found)
	}
	if _, found := f.sum("d"); found {
		t.Error("there is a d")
	}
}

// Every setting is tried with every value, and the table stands between the marks.
func TestSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "operations.md")
	if err := os.WriteFile(path, []byte("before\n<!-- bench: settings -->\nwas here\n<!-- end -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	args := quick(t, "--start", os.Args[0], "--settings", path, "--duration=20ms")
	if code := run(args, nil, &out, &log); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &log, &out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n<!-- bench: settings -->\n", "go run ./bench", "<!-- end -->\nafter\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "was here") {
		t.Errorf("what was there is there still:\n%s", text)
	}
	for _, setting := range settings() {
		for _, trial := range setting.trials {
			if !strings.Contains(string(text), trial.value+": ") {
				t.Errorf("nothing about %s = %s", setting.key, trial.value)
			}
		}
	}
}

func TestSectionMarkersMustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.md")
	for _, text := range []string{"", "<!-- bench: a -->\n", "<!-- bench: b -->\n<!-- end -->"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := replaceSection(path, "a", "new"); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}
