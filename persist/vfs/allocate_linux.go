package vfs

import (
	"errors"
	"os"
	"syscall"
)

// Allocate implements File.
func (f osFile) Allocate(size int64) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var fault error
	err = raw.Control(func(fd uintptr) {
		for fault = syscall.EINTR; fault == syscall.EINTR; {
			fault = syscall.Fallocate(int(fd), 0, 0, size)
		}
	})
	switch {
	case err != nil:
		return err
	case errors.Is(fault, syscall.EOPNOTSUPP) || errors.Is(fault, syscall.ENOSYS):
		return errors.ErrUnsupported
	case fault != nil:
		return &os.PathError{Op: "fallocate", Path: f.Name(), Err: fault}
	}
	return nil
}
