package client

import (
	"os"
	"testing"
)

// ReadFile returns the content of a file, or fails the test.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// WriteFile writes a file that only its owner can read.
func WriteFile[T ~string | ~[]byte](t testing.TB, path string, text T) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
