package vfs

import (
	"errors"
	"os"
	"syscall"
)

func (f osFile) Allocate(size int64) error { return f.fallocate(0, 0, size) }

// Modes of fallocate(2). Together they free the blocks of a range without changing the length of
// the file.
const (
	keepSize  = 1
	punchHole = 2
)

// Zero punches a hole.
func (f osFile) Zero(from, to int64) error { return f.fallocate(punchHole|keepSize, from, to-from) }

func (f osFile) fallocate(mode uint32, from, length int64) error {
	err, fault := f.control(func(fd int) error { return syscall.Fallocate(fd, mode, from, length) })
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
