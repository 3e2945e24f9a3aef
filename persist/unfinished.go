package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/persist/vfs"
)

// An unfinished is a data directory that is being created. A marker file in the directory makes
// Open fail until the directory is complete. If the directory does not exist yet, a second marker
// is created next to it first (dir.restoring).
//
// The marker in the directory is empty until this process has locked the directory. A later run may
// remove the incomplete data only if the marker is not empty.
type unfinished struct {
	o       Options
	dir     string
	made    bool // the directory was missing
	claimed bool // the marker belongs to this run
}

// ErrNotEmpty is returned by Create and Restore if the directory has other files.
var ErrNotEmpty = errors.New("it is not empty")

func (u *unfinished) marker() string { return filepath.Join(u.dir, restoringFile) }

func besideMarker(dir string) string { return filepath.Clean(dir) + "." + restoringFile }

func (u *unfinished) check() error {
	if readChecksummed(u.o.FS, u.marker(), new(format)) == nil {
		return nil
	}
	other, err := u.otherFile()
	if other != "" {
		return fmt.Errorf("cannot restore into %s: %w: it contains %q", u.dir, ErrNotEmpty, other)
	}
	return err
}

// otherFile returns the name of a file in the directory that is neither its lock nor its marker, or
// "".
func (u *unfinished) otherFile() (string, error) {
	names, err := u.o.FS.ReadDir(u.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for _, name := range names {
		switch strings.TrimSuffix(name, tempSuffix) {
		case lockFile, restoringFile, "lost+found":
		default:
			return name, nil
		}
	}
	return "", err
}

func (u *unfinished) begin() error {
	fsys, parent := u.o.FS, filepath.Dir(filepath.Clean(u.dir))
	names, err := fsys.ReadDir(u.dir)
	if u.made = errors.Is(err, fs.ErrNotExist); u.made {
		if err := errors.Join(fsys.MkdirAll(parent), u.createMarker(besideMarker(u.dir))); err != nil {
			return err
		}
		err = fsys.MkdirAll(u.dir)
	}
	if err != nil || slices.Contains(names, restoringFile) {
		return err
	}
	u.claimed = true
	if err := u.createMarker(u.marker()); err != nil {
		return err
	}
	return fsys.SyncDir(parent)
}

func (u *unfinished) createMarker(path string) error {
	f, err := u.o.FS.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), u.o.FS.SyncDir(filepath.Dir(path)))
}

// confirm fills the marker, so that a later run may remove the incomplete data.
func (u *unfinished) confirm() error {
	if err := writeChecksummed(u.o.FS, u.marker(), format{formatVersion}); err != nil {
		return err
	}
	beside := besideMarker(u.dir)
	return errors.Join(removeIfThere(u.o.FS, beside), u.o.FS.SyncDir(filepath.Dir(beside)))
}

func (u *unfinished) clear() error {
	fsys := u.o.FS
	names, err := fsys.ReadDir(u.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		switch strings.TrimSuffix(name, tempSuffix) {
		case formatFile, labelsFile, controlFile:
			err = errors.Join(err, fsys.Remove(filepath.Join(u.dir, name)))
		}
	}
	for _, d := range []string{journalDir(u.dir), snapshotsDir(u.dir)} {
		inside, fault := fsys.ReadDir(d)
		if errors.Is(fault, fs.ErrNotExist) {
			continue
		}
		err = errors.Join(err, fault)
		for _, name := range inside {
			err = errors.Join(err, fsys.Remove(filepath.Join(d, name)))
		}
		err = errors.Join(err, fsys.Remove(d))
	}
	return err
}

// withdraw removes the files that begin created, because another run owns the directory. If the
// directory has a lock file but no state yet, withdraw keeps the markers, because the other run may
// need them.
func (u *unfinished) withdraw() error {
	fsys, beside := u.o.FS, besideMarker(u.dir)
	names, err := fsys.ReadDir(u.dir)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing || slices.Contains(names, lockFile) && !slices.Contains(names, formatFile) {
		return err
	}
	if u.claimed {
		if err := errors.Join(removeIfThere(fsys, u.marker()), fsys.SyncDir(u.dir)); err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == restoringFile })
	}
	if !u.made {
		return nil
	}
	if !missing && len(names) == 0 {
		err = fsys.Remove(u.dir)
	} else {
		err = nil
	}
	if err == nil {
		err = removeIfThere(fsys, beside)
	}
	return errors.Join(err, fsys.SyncDir(filepath.Dir(beside)))
}

// abandon restores the previous state of the directory. If it fails, or other files were written
// (State.Files), the directory keeps its marker.
func (u *unfinished) abandon(lock io.Closer) error {
	fsys, beside := u.o.FS, besideMarker(u.dir)
	err := u.clear()
	other, fault := u.otherFile()
	if err = errors.Join(err, fault); err == nil && other == "" && u.made {
		err = u.createMarker(beside)
	}
	if err != nil || other != "" {
		return errors.Join(err, lock.Close())
	}
	// Some operating systems cannot remove an open file.
	path := filepath.Join(u.dir, lockFile)
	if err = fsys.Remove(path); err != nil {
		err = errors.Join(lock.Close(), removeIfThere(fsys, path))
	} else {
		err = lock.Close()
	}
	if err = errors.Join(err, fsys.SyncDir(u.dir)); err != nil {
		return err
	}
	if err = errors.Join(fsys.Remove(u.marker()), removeIfThere(fsys, u.marker()+tempSuffix), fsys.SyncDir(u.dir)); err != nil || !u.made {
		return err
	}
	if err := errors.Join(fsys.Remove(u.dir), fsys.SyncDir(filepath.Dir(beside))); err != nil {
		return err
	}
	return errors.Join(fsys.Remove(beside), fsys.SyncDir(filepath.Dir(beside)))
}

func (u *unfinished) end() error {
	return errors.Join(removeIfThere(u.o.FS, u.marker()), u.o.FS.SyncDir(u.dir))
}

// checkFinished rejects a directory left empty by an interrupted restore.
func checkFinished(fsys vfs.FS, dir string) error {
	f, err := fsys.Open(besideMarker(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errUnfinished(dir)
		return errors.Join(err, f.Close())
	}
	return err
}

func errUnfinished(dir string) error {
	return fmt.Errorf("a restore or migration into %s did not finish: run it again", dir)
}
