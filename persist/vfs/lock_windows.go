package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks an open file, or returns ErrLocked. It locks a byte beyond the end of any file,
// because locks on Windows also prevent reads and writes.
func lockFile(f *os.File) error {
	beyond := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, beyond)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrLocked
	}
	return &os.PathError{Op: "LockFileEx", Path: f.Name(), Err: err}
}
