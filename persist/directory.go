package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/persist/vfs"
)

const (
	lockFile      = "lock"
	formatFile    = "format"
	restoringFile = "restoring"
	// formatVersion is the format version of snapshots and backups. directoryFormat is the format
	// version of the directory.
	formatVersion   = 1
	directoryFormat = 2
	// previousFormat is the format version of directories without a control file.
	previousFormat = 1
)

type format struct {
	Format int `json:"format"`
}

// lockDirectory creates the directory durably and locks it. It creates the lock file only in a new
// directory, not in an unrelated one. If it recreated a removed lock file, a second process could
// lock a directory that is in use.
func lockDirectory(o Options, dir string) (vfs.Lock, error) {
	fsys, path := o.FS, filepath.Join(dir, lockFile)
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, err
	}
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, lockFile) && !o.AcceptDataLoss {
		if slices.Contains(names, formatFile) {
			return nil, &DataLossError{File: path, What: "is missing, so another process may be using the directory"}
		}
		if err := checkUninitialized(fsys, dir); err != nil {
			return nil, err
		}
	}
	lock, err := lockOf(fsys, path)
	if err != nil {
		return nil, err
	}
	err = fsys.SyncDir(filepath.Dir(filepath.Clean(dir)))
	if err == nil && !slices.Contains(names, lockFile) {
		err = fsys.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func lockOf(fsys vfs.FS, path string) (vfs.Lock, error) {
	lock, err := fsys.Lock(path)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, filepath.Dir(path))
	}
	return lock, err
}

// prepareDirectory checks and returns the format version of a directory. It initializes a directory
// without a format file, which is new or was left by a crash during initialization. It rejects a
// directory with other content before it writes any file except the lock file.
func prepareDirectory(fsys vfs.FS, dir string) (formatOf int, err error) {
	formatOf, err = checkFormat(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = errors.Join(checkFinished(fsys, dir), checkUninitialized(fsys, dir)); err == nil {
			formatOf, err = directoryFormat, initDirectory(fsys, dir)
		}
	}
	if err != nil {
		return 0, err
	}
	return formatOf, makeSubdirectories(fsys, dir)
}

// initDirectory writes the format file last, because this file marks a data directory as complete.
func initDirectory(fsys vfs.FS, dir string) error {
	if err := makeSubdirectories(fsys, dir); err != nil {
		return err
	}
	if err := writeChecksummed(fsys, filepath.Join(dir, labelsFile), withHistory(nil)); err != nil {
		return err
	}
	if err := writeControl(fsys, dir, watermark{}); err != nil {
		return err
	}
	return writeChecksummed(fsys, filepath.Join(dir, formatFile), format{directoryFormat})
}

func makeSubdirectories(fsys vfs.FS, dir string) error {
	for _, d := range []string{journalDir(dir), snapshotsDir(dir)} {
		if err := fsys.MkdirAll(d); err != nil {
			return err
		}
	}
	return fsys.SyncDir(dir)
}

func checkFormat(fsys vfs.FS, dir string) (int, error) {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if name == restoringFile || name == restoringFile+tempSuffix {
			return 0, errUnfinished(dir)
		}
	}
	var f format
	if err := readChecksummed(fsys, filepath.Join(dir, formatFile), &f); err != nil {
		return 0, err
	}
	if f.Format != directoryFormat && f.Format != previousFormat {
		return 0, errFormat(dir, f.Format, directoryFormat)
	}
	return f.Format, nil
}

func errFormat(what string, format, newest int) error {
	return fmt.Errorf("%s has format %d, but this release reads formats up to %d: use the newer release that wrote it, or a backup of this one", what, format, newest)
}

// checkUninitialized returns an error if a directory contains files that an interrupted
// initialization cannot have left.
func checkUninitialized(fsys vfs.FS, dir string) error {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		switch name = strings.TrimSuffix(name, tempSuffix); name {
		case lockFile, formatFile, labelsFile, controlFile, restoringFile, ballastFile, "lost+found":
		case filepath.Base(journalDir(dir)), filepath.Base(snapshotsDir(dir)):
			inside, err := fsys.ReadDir(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			if len(inside) > 0 {
				return errNotDataDir(dir, filepath.Join(name, inside[0]))
			}
		default:
			return errNotDataDir(dir, name)
		}
	}
	return nil
}

func errNotDataDir(dir, name string) error {
	return fmt.Errorf("%s holds %q but no %s file: it is not a data directory, or a damaged one", dir, name, formatFile)
}
