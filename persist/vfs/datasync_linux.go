package vfs

import (
	"os"
	"syscall"
)

// Sync makes the file's content and size durable. It skips timestamps, which are never read and
// cost an extra write.
func (f osFile) Sync() error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var fault error
	err = raw.Control(func(fd uintptr) {
		for fault = syscall.EINTR; fault == syscall.EINTR; {
			fault = syscall.Fdatasync(int(fd))
		}
	})
	if err == nil && fault != nil {
		err = &os.PathError{Op: "fdatasync", Path: f.Name(), Err: fault}
	}
	return err
}
