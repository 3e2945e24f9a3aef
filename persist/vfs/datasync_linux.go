package vfs

import (
	"os"
	"syscall"
)

// Sync makes the file's content and size durable. It skips timestamps, which are never read and
// cost an extra write.
func (f osFile) Sync() error {
	err, fault := f.control(syscall.Fdatasync)
	if err == nil && fault != nil {
		err = &os.PathError{Op: "fdatasync", Path: f.Name(), Err: fault}
	}
	return err
}

// control makes a system call, and repeats it while signals interrupt it. fault is its error.
func (f osFile) control(call func(fd int) error) (err, fault error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return err, nil
	}
	err = raw.Control(func(fd uintptr) {
		for fault = syscall.EINTR; fault == syscall.EINTR; {
			fault = call(int(fd))
		}
	})
	return err, fault
}
