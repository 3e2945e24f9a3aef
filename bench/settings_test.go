package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/bench/internal/scenario"
)

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
	for _, setting := range scenario.Settings() {
		for _, trial := range setting.Trials {
			if !strings.Contains(string(text), trial.Value+": ") {
				t.Errorf("nothing about %s = %s", setting.Key, trial.Value)
			}
		}
	}
}
