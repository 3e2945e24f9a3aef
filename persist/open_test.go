package persist

import (
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/persist/vfs"
)

func TestSecondOpener(t *testing.T) {
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewMem(), "os": vfs.OS{}} {
		dir := testDir
		if name == "os" {
			dir = t.TempDir()
		}
		o := testOptions(fs)
		j, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, o); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: second Open: %v, want ErrLocked", name, err)
		}
		mustClose(t, j)
		mustClose(t, j) // again: nothing
		j, err = Open(dir, o)
		if err != nil {
			t.Fatalf("%s: after Close: %v", name, err)
		}
		mustClose(t, j)
	}
}

func TestOptionsValidate(t *testing.T) {
	_, err := Open(testDir, Options{FS: vfs.NewMem(), SegmentBytes: -1, Sync: "sometimes"})
	if err == nil || !strings.Contains(err.Error(), "negative") || !strings.Contains(err.Error(), "sometimes") {
		t.Errorf("faults reported: %v", err)
	}
}
