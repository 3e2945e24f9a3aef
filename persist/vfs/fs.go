package vfs

import (
	"errors"
	"io"
)

// ErrLocked is returned by FS.Lock while another owner holds the lock.
var ErrLocked = errors.New("file is locked")

// An FS is a file system. Its errors match fs.ErrNotExist for a missing file and syscall.ENOSPC for
// a full disk (errors.Is).
type FS interface {
	// Create creates or truncates a file for reading and writing.
	Create(path string) (File, error)
	// Open opens an existing file for reading.
	Open(path string) (File, error)
	// OpenReadWrite opens an existing file for reading and writing.
	OpenReadWrite(path string) (File, error)
	// OpenLog opens an existing file for appending. Writes may only extend the file or overwrite
	// its zero padding. A write may pad the file with zeros to a multiple of 4 KiB. If the system
	// supports it, a write is durable when it returns.
	OpenLog(path string) (File, error)
	Rename(from, to string) error
	Remove(path string) error
	// ReadDir returns the names in a directory in ascending order.
	ReadDir(dir string) ([]string, error)
	MkdirAll(dir string) error
	// SyncDir makes a directory's entries durable.
	SyncDir(dir string) error
	// Lock takes an exclusive lock without waiting, and creates a missing file. It returns
	// ErrLocked if another owner holds the lock. Close or the end of the process releases the lock.
	Lock(path string) (Lock, error)
}

// A Lock is an exclusive lock on a file.
type Lock interface {
	io.Closer
	// Held reports whether the path still refers to the locked file. If it does not, another
	// process may have locked the new file.
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
	// Allocate extends the file to size with zeros and reserves disk space, or returns
	// errors.ErrUnsupported.
	Allocate(size int64) error
	// Zero zeroes a byte range and frees its disk space without changing the length, or returns
	// errors.ErrUnsupported.
	Zero(from, to int64) error
}
