package vfs

import (
	"errors"
	"io"
)

// ErrLocked is what FS.Lock answers while another holds the lock.
var ErrLocked = errors.New("file is locked")

// An FS is a file system. Errors about a missing file satisfy errors.Is(err, fs.ErrNotExist);
// those about a full disk satisfy errors.Is(err, syscall.ENOSPC).
type FS interface {
	// Create makes an empty file or empties an existing one, for reading and writing.
	Create(path string) (File, error)
	// Open opens an existing file for reading.
	Open(path string) (File, error)
	// OpenReadWrite opens an existing file for reading and writing.
	OpenReadWrite(path string) (File, error)
	// OpenLog opens an existing file that is only appended to: a write overwrites zeros, or nothing,
	// and only zeros may follow. It may add more zeros, up to a multiple of 4 KiB. Where the system
	// can, a write is durable when it returns.
	OpenLog(path string) (File, error)
	Rename(from, to string) error
	Remove(path string) error
	// ReadDir answers the names in a directory in ascending order.
	ReadDir(dir string) ([]string, error)
	MkdirAll(dir string) error
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
	// Lock takes an exclusive lock that ends with the process or with Close,
	// or answers ErrLocked at once. The file is made if it is missing.
	Lock(path string) (Lock, error)
}

// A Lock is an exclusive lock of a file.
type Lock interface {
	io.Closer
	// Held reports whether the path still names the locked file. If it does not, others may lock the
	// file that it names.
	Held() (bool, error)
}

// A File is an open file. ReadAt and WriteAt keep the promises of their interfaces.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
	// Allocate makes the file so long, with zeros, and takes the space for it from the disk. The
	// error is errors.ErrUnsupported where the file system can not.
	Allocate(size int64) error
	// Zero makes the bytes of a range inside the file zeros, which takes no space, and leaves its length as it is. The error is
	// errors.ErrUnsupported where the file system can not.
	Zero(from, to int64) error
}
