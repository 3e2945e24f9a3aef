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

// FileOptions say where a File is and what becomes of it when it is full.
//
// Names: audit.log becomes audit-2026-11-21T12-00-00.000.log and, with Compress, that and .gz.
type FileOptions struct {
	Path       string
	MaxSize    int64         // bytes; a write that would exceed it goes to a new file; 0 is no bound
	MaxAge     time.Duration // of old files; 0 keeps them
	MaxBackups int           // old files to keep; 0 keeps all
	Compress   bool          // old files with gzip
	Now        func() time.Time
	// OnError is told of old files that could not be dealt with.
	OnError func(error)
}

// A File is a log file that rotates: when it is full it is renamed, with the time in its name,
// and a new one begins. Its methods may be called by many goroutines.
type File struct {
	options   FileOptions
	cleanups  sync.WaitGroup
	cleanupMu sync.Mutex // held by the sweep that runs

	mu     sync.Mutex // guards the rest
	file   *os.File   // nil after a rotation that has failed, and after Close
	size   int64
	closed bool
}

const (
	fileMode      = 0o600
	directoryMode = 0o700
)

// OpenFile opens a File, and makes its directory. What is there is gone on with.
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

// open opens the file at the path, with mu held or before anybody else knows of it.
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

// Write writes whole lines: all of b or, as far as the disk allows, nothing of it.
//
// One call of the system writes all lines of b, and the file is opened for appending. So lines of two calls never
// mix, also if another process has the file open.
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

// truncateTail removes the last n bytes, which are part of a line, so that the next one begins at its
// beginning. What is no regular file cannot be cut.
func (f *File) truncateTail(n int64) error {
	info, err := f.file.Stat()
	if n == 0 || err != nil || !info.Mode().IsRegular() {
		return err
	}
	f.size = info.Size() - n
	return f.file.Truncate(f.size)
}

// ensureSpace sees to it that there is a file with room for n bytes, or an empty one.
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

// rotate renames the file and begins a new one.
//
// The file is closed before it is renamed, and a failed rename is reported and tried again with the next write, which
// opens the old path. A file that somebody has moved away is no fault.
func (f *File) rotate() error {
	info, err := f.file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		f.size = 0 // a pipe or a device has no end
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

// rotatedName is the name of the file when it is full, which no other file has.
//
// Two rotations may fall into one millisecond, and a compressed file counts as well as a plain one.
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

// cleanUp removes and compresses old files.
//
// It runs in a goroutine of its own, as compressing takes seconds and writers of a blocking log wait for the file.
// One runs at a time; each looks at the directory anew, so that none is needed twice.
func (f *File) cleanUp() {
	f.cleanupMu.Lock()
	defer f.cleanupMu.Unlock()
	if err := f.rotated().cleanUp(&f.options); err != nil && f.options.OnError != nil {
		f.options.OnError(err)
	}
}

// Close closes the file, and waits until old ones have been dealt with.
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
