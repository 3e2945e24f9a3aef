package vfs

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// OS is the file system of the operating system.
type OS struct{}

var _ FS = OS{}

// Only the owner may read: the files hold every object, Secrets too.
const (
	filePerm = 0o600
	dirPerm  = 0o700
)

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func openOS(path string, flags int) (File, error) {
	f, err := os.OpenFile(path, flags, filePerm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Create implements FS.
func (OS) Create(path string) (File, error) {
	return openOS(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

// Open implements FS.
func (OS) Open(path string) (File, error) { return openOS(path, os.O_RDONLY) }

// OpenReadWrite implements FS.
func (OS) OpenReadWrite(path string) (File, error) { return openOS(path, os.O_RDWR) }

// OpenLog implements FS. On systems without direct writes the file is like any other.
func (o OS) OpenLog(path string) (File, error) {
	file, err := o.OpenReadWrite(path)
	if err != nil {
		return nil, err
	}
	return newLogFile(file.(osFile)), nil
}

// Rename implements FS.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements FS.
func (OS) Remove(path string) error { return os.Remove(path) }

// MkdirAll implements FS.
func (OS) MkdirAll(dir string) error { return os.MkdirAll(dir, dirPerm) }

// ReadDir implements FS.
func (OS) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// SyncDir implements FS. On Linux and macOS a directory is opened and synced like a file. On Windows it
// cannot be, and NTFS logs names by itself.
func (OS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Lock implements FS. It also excludes a second opener in this process.
func (OS) Lock(path string) (Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return nil, err
	}
	lock := osLock{f}
	held := false
	if err = lockFile(f); err == nil {
		held, err = lock.Held()
	}
	if err == nil && !held { // somebody has just put another file there
		err = ErrLocked
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, err
	}
	return lock, nil
}

type osLock struct{ *os.File }

// Held implements Lock.
func (l osLock) Held() (bool, error) {
	locked, err := l.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(l.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(locked, named), err
}
