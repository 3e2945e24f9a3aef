// Package golden compares test results with a golden file, and records them with -update.
//
// Blank lines separate the blocks of a file. A block consists of input lines and the expected
// result:
//
//	name or input
//	further input
//	=> result
//	=> second line of the result
//
// Lines that begin with # are comments.
package golden

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

// Update is the flag -update, which makes tests record results instead of comparing them.
var Update = flag.Bool("update", false, "record the results in golden files")

// Run calls result with the input lines of each block of the file at path, and compares the return
// value with the result lines. Without result lines, it expects the empty string.
func Run(t *testing.T, path string, result func(given []string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n\n")
	for i, block := range blocks {
		given, want, _ := strings.Cut(block, "\n=> ")
		lines := slices.DeleteFunc(strings.Split(given, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
		if len(lines) == 0 {
			continue
		}
		got := strings.ReplaceAll(result(lines), "\n", "\n=> ")
		if got != want && !*Update {
			t.Errorf("%s: %s\n=> %s\nwant\n=> %s", path, given[:min(len(given), 1000)], got, want)
		}
		if blocks[i] = given; got != "" {
			blocks[i] += "\n=> " + got
		}
	}
	if *Update {
		if err := os.WriteFile(path, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
