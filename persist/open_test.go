package persist

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
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
		must.Succeed(t, err)
		if _, err := Open(dir, o); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: second Open: %v, want ErrLocked", name, err)
		}
		mustClose(t, j)
		mustClose(t, j) // again: no effect
		j, err = Open(dir, o)
		if err != nil {
			t.Fatalf("%s: after Close: %v", name, err)
		}
		mustClose(t, j)
	}
}

// TestReplacedLock checks that replacing the lock file does not let a second process open the
// directory. If the control file is replaced too, the journal must acknowledge no further writes.
func TestReplacedLock(t *testing.T) {
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewMem(), "os": vfs.OS{}} {
		dir := testDir
		if name == "os" {
			dir = t.TempDir()
		}
		o := testOptions(fs)
		j, err := Open(dir, o)
		if err == nil {
			_, err = j.Recover(Recovery{})
		}
		must.Succeed(t, err)
		j.Subscribe(func([]Commit, Revision) {})
		replace := func(file string) {
			t.Helper()
			path := filepath.Join(dir, file)
			data, err := readFile(fs, path)
			if err == nil {
				err = errors.Join(fs.Remove(path), replaceFile(fs, path, data))
			}
			must.Succeed(t, err)
		}
		replace(lockFile)
		if _, err := Open(dir, o); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: with a new lock file: %v, want ErrLocked", name, err)
		}
		if err := j.checkLocks(); err != nil {
			t.Errorf("%s: with a new lock file: %v", name, err)
		}
		if _, err := j.Append([]Write{put("a", "1")}); err != nil {
			t.Errorf("%s: with a new lock file: %v", name, err)
		}
		replace(controlFile)
		if err := j.checkLocks(); !errors.Is(err, ErrFailed) {
			t.Errorf("%s: with a new control file: %v, want ErrFailed", name, err)
		}
		if _, err := j.Append([]Write{put("b", "2")}); !errors.Is(err, ErrFailed) {
			t.Errorf("%s: with a new control file: %v, want ErrFailed", name, err)
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
