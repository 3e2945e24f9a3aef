package audit

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestPartialLineIsTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	f, err := OpenFile(FileOptions{Path: path, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	_, first := f.Write([]byte("whole\n"))
	n, part := f.file.Write([]byte("hal"))
	cut := f.truncateTail(int64(n))
	_, last := f.Write([]byte("next\n"))
	for _, err := range []error{first, part, cut, last, f.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "whole\nnext\n" {
		t.Errorf("%q, %v", text, err)
	}
}
