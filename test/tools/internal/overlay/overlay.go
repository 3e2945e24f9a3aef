// Package overlay builds and tests changed code without changing the working tree.
package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Write writes the texts of source files by absolute path to dir, and returns go build's flag that
// replaces or adds these files.
func Write(dir string, files map[string][]byte) (flag string, err error) {
	replace := map[string]string{}
	for path, text := range files {
		folder := filepath.Join(dir, strconv.Itoa(len(replace)))
		replace[path] = filepath.Join(folder, filepath.Base(path)) // the name appears in errors of the compiler
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(replace[path], text, 0o600)); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return "-overlay=" + path, os.WriteFile(path, list, 0o600)
}

var (
	failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	hung       = regexp.MustCompile(`(?m)^\s*running tests:\n\s*(\S+)`)
	panicked   = regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*|WARNING: DATA RACE)$`)
)

// Failure returns the first failed test in the output of go test, or the line that reports a hang
// or panic. It returns "" if there is none.
func Failure(out []byte) string {
	if first := failedTest.FindSubmatch(out); first != nil {
		return string(first[1])
	}
	if endless := hung.FindSubmatch(out); endless != nil {
		return string(endless[1]) + ", which does not end"
	}
	return string(bytes.TrimSpace(panicked.Find(out)))
}
