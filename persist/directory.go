package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/troupe-api/troupe/persist/vfs"
)

const (
	lockFile      = "lock"
	formatFile    = "format"
	restoringFile = "restoring"
	formatVersion = 1
)

// format is the content of the format file.
type format struct {
	Format int `json:"format"`
}

// takeDirectory makes the directory durable and locks it.
func takeDirectory(fsys vfs.FS, dir string) (io.Closer, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, err
	}
	lock, err := fsys.Lock(filepath.Join(dir, lockFile))
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, dir)
	}
	if err != nil {
		return nil, err
	}
	if err := fsys.SyncDir(filepath.Dir(filepath.Clean(dir))); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// prepareDirectory checks the format, or lays out a directory that holds nothing yet.
func prepareDirectory(fsys vfs.FS, dir string) error {
	err := checkFormat(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = mustBeFresh(fsys, dir); err == nil {
			err = writeSealed(fsys, filepath.Join(dir, formatFile), format{formatVersion})
		}
	}
	if err != nil {
		return err
	}
	for _, d := range []string{journalDir(dir), snapshotsDir(dir)} {
		if err := fsys.MkdirAll(d); err != nil {
			return err
		}
	}
	return fsys.SyncDir(dir)
}

// checkFormat refuses a directory of another format and one whose restore did not finish.
func checkFormat(fsys vfs.FS, dir string) error {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == restoringFile {
			return fmt.Errorf("persist: a restore into %s did not finish: empty the directory and restore again", dir)
		}
	}
	var f format
	if err := readSealed(fsys, filepath.Join(dir, formatFile), &f); err != nil {
		return err
	}
	if f.Format != formatVersion {
		return fmt.Errorf("persist: %s has format %d, this program knows format %d", dir, f.Format, formatVersion)
	}
	return nil
}

// mustBeFresh refuses to lay out a directory anew that already holds something.
func mustBeFresh(fsys vfs.FS, dir string) error {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != lockFile && name != formatFile+tempSuffix && name != "lost+found" {
			return fmt.Errorf("persist: %s holds %q but no %s file: it is not a data directory, or a damaged one", dir, name, formatFile)
		}
	}
	return nil
}
