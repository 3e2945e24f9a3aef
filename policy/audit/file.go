package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// FileOptions configures a File. A rotated audit.log becomes audit-2026-11-21T12-00-00.000.log,
// with the suffix .gz if compressed.
type FileOptions struct {
	Path       string
	MaxSize    int64         // bytes before rotation; 0 means unlimited
	MaxAge     time.Duration // age at which rotated files are deleted; 0 keeps them
	MaxBackups int           // number of rotated files to keep; 0 keeps all
	Compress   bool          // compress rotated files with gzip
	Now        func() time.Time
	// OnError receives errors from the cleanup of rotated files.
	OnError func(error)
}

// A File is a rotating log file. A full file is renamed with a timestamp and replaced by an empty
// one. A File is safe for concurrent use.
type File struct {
	options   FileOptions
	cleanups  sync.WaitGroup
	cleanupMu sync.Mutex // serializes cleanups

	mu     sync.Mutex // guards the fields below
	file   *os.File   // nil after a failed rotation, and after Close
	size   int64
	closed bool
}

const (
	fileMode      = 0o600
	directoryMode = 0o700
)

// OpenFile opens a File for appending, and creates its directory if necessary.
func OpenFile(o FileOptions) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(o.Path), directoryMode); err != nil {
		return nil, err
	}
	f := &File{options: o}
	if err := f.open(); err != nil {
		return nil, err
	}
	f.cleanups.Go(f.cleanUp)
	return f, nil
}

// open opens the file at the configured path. The caller holds mu or has exclusive access.
func (f *File) open() error {
	file, err := os.OpenFile(f.options.Path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write writes b, which must consist of whole lines. After a partial write, it truncates the file
// if possible. Each write is one system call in append mode, so that lines of concurrent processes
// do not interleave.
func (f *File) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.ensureSpace(int64(len(b))); err != nil {
		return 0, err
	}
	n, err := f.file.Write(b)
	if err == nil {
		f.size += int64(n)
		return n, nil
	}
	return 0, errors.Join(err, f.truncateTail(int64(n)))
}

func (f *File) truncateTail(n int64) error {
	info, err := f.file.Stat()
	if n == 0 || err != nil || !info.Mode().IsRegular() {
		return err
	}
	f.size = info.Size() - n
	return f.file.Truncate(f.size)
}

// ensureSpace rotates the file if n more bytes do not fit. It reopens the file after a failed
// rotation.
func (f *File) ensureSpace(n int64) error {
	switch {
	case f.closed:
		return fs.ErrClosed
	case f.file == nil:
		return f.open()
	case f.options.MaxSize > 0 && f.size > 0 && f.size+n > f.options.MaxSize:
		return f.rotate()
	}
	return nil
}

// rotate renames the file and opens a new one. If the rename fails, the next write tries again.
func (f *File) rotate() error {
	info, err := f.file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		f.size = 0 // pipes and devices do not fill up
		return nil
	}
	err = errors.Join(err, f.file.Close())
	f.file = nil
	if err == nil {
		err = os.Rename(f.options.Path, f.rotatedName())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("rotating: %w", err)
	}
	if err := f.open(); err != nil {
		return err
	}
	f.cleanups.Go(f.cleanUp)
	return nil
}

// rotatedName returns an unused name, because two rotations may happen within one millisecond.
func (f *File) rotatedName() string {
	for at := f.options.Now(); ; at = at.Add(time.Millisecond) {
		name := f.rotated().name(at)
		_, plain := os.Lstat(name)
		_, packed := os.Lstat(name + gzipSuffix)
		if errors.Is(plain, fs.ErrNotExist) && errors.Is(packed, fs.ErrNotExist) {
			return name
		}
	}
}

// cleanUp removes and compresses rotated files. It runs on its own goroutine, because compression
// takes seconds and would block writers.
func (f *File) cleanUp() {
	f.cleanupMu.Lock()
	defer f.cleanupMu.Unlock()
	if err := f.rotated().cleanUp(&f.options); err != nil && f.options.OnError != nil {
		f.options.OnError(err)
	}
}

// Close closes the file and waits for the cleanup of rotated files.
func (f *File) Close() error {
	f.mu.Lock()
	var err error
	if f.file != nil {
		err = f.file.Close()
	}
	f.file, f.closed = nil, true
	f.mu.Unlock()
	f.cleanups.Wait()
	return err
}

var _ io.WriteCloser = (*File)(nil)
