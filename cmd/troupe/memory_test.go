package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	for text, want := range map[string]int64{
		"1073741824\n": 966367641, "max\n": 0, "9223372036854771712\n": 0, "": 0, "-1": 0,
	} {
		path := filepath.Join(t.TempDir(), "limit")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := memoryLimit(path); got != want || ok != (want > 0) {
			t.Errorf("%q: %d, %t", text, got, ok)
		}
	}
	if got, ok := memoryLimit("/nowhere"); ok {
		t.Errorf("no file: %d", got)
	}
}
