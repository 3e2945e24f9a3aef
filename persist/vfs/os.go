package vfs

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// OS is the operating system's file system.
type OS struct{}

var _ FS = OS{}

// Only the owner can read the files, because they hold all objects, including Secrets.
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

func (OS) Create(path string) (File, error) {
	return openOS(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (OS) Open(path string) (File, error) { return openOS(path, os.O_RDONLY) }

func (OS) OpenReadWrite(path string) (File, error) { return openOS(path, os.O_RDWR) }

// OpenLog opens a file for direct writes. If these are not supported, it returns an ordinary file.
func (o OS) OpenLog(path string) (File, error) {
	file, err := o.OpenReadWrite(path)
	if err != nil {
		return nil, err
	}
	return newLogFile(file.(osFile)), nil
}

func (OS) Rename(from, to string) error { return os.Rename(from, to) }

func (OS) Remove(path string) error { return os.Remove(path) }

func (OS) MkdirAll(dir string) error { return os.MkdirAll(dir, dirPerm) }

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

// SyncDir syncs a directory like a file. On Windows it is a no-op, because directories cannot be
// synced there and NTFS journals names itself.
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

// Lock locks a file. It returns ErrLocked even if the lock is held by this process through another
// open file.
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
	if err == nil && !held { // the path now refers to another file
		err = ErrLocked
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, err
	}
	return lock, nil
}

type osLock struct{ *os.File }

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
