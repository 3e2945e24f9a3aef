package vfs

import (
	"errors"
	"io"
)

// ErrLocked is returned by FS.Lock while another owner holds the lock.
var ErrLocked = errors.New("file is locked")

// An FS is a file system. Errors about a missing file satisfy errors.Is(err, fs.ErrNotExist); those
// about a full disk satisfy errors.Is(err, syscall.ENOSPC).
type FS interface {
	// Create creates an empty file or truncates an existing one, for reading and writing.
	Create(path string) (File, error)
	// Open opens an existing file for reading.
	Open(path string) (File, error)
	// OpenReadWrite opens an existing file for reading and writing.
	OpenReadWrite(path string) (File, error)
	// OpenLog opens an existing file that is only appended to: a write overwrites zeros or nothing,
	// and only zeros may follow. It may add zeros up to a multiple of 4 KiB. If the system supports
	// it, a write is durable when it returns.
	OpenLog(path string) (File, error)
	Rename(from, to string) error
	Remove(path string) error
	// ReadDir returns the names in a directory in ascending order.
	ReadDir(dir string) ([]string, error)
	MkdirAll(dir string) error
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
	// Lock takes an exclusive lock that ends with the process or with Close, or returns ErrLocked
	// at once. It creates a missing file.
	Lock(path string) (Lock, error)
}

// A Lock is an exclusive lock of a file.
type Lock interface {
	io.Closer
	// Held reports whether the path still names the locked file. If not, another process may lock
	// the new one.
	Held() (bool, error)
}

// A File is an open file. ReadAt and WriteAt behave as in package io.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
	// Allocate extends the file to size with zeros, and reserves the space on the disk. The error
	// is errors.ErrUnsupported if the file system cannot.
	Allocate(size int64) error
	// Zero zeroes a range inside the file and releases its space, without changing the length. The
	// error is errors.ErrUnsupported if the file system cannot.
	Zero(from, to int64) error
}
