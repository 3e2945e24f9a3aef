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

// An unfinished is a data directory that is being made. The marker in it keeps it from being opened, from
// before the first other file until the last. Where the directory itself has to be made, a marker
// beside it (dir.restoring) comes first.
//
// A marker is made empty and gets its content when the directory is locked and known to hold nothing
// else. Only then may what lies beside it be removed.
type unfinished struct {
	o       Options
	dir     string
	made    bool // the directory was missing
	claimed bool // the marker is of this run
}

func (u *unfinished) marker() string { return filepath.Join(u.dir, restoringFile) }

// besideMarker is the marker of a directory that is missing or being made.
func besideMarker(dir string) string { return filepath.Clean(dir) + "." + restoringFile }

// check refuses a directory that holds anything but an unfinished restore.
func (u *unfinished) check() error {
	names, err := u.o.FS.ReadDir(u.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if slices.Contains(names, restoringFile) && readChecksummed(u.o.FS, u.marker(), new(format)) == nil {
		return nil
	}
	for _, name := range names {
		switch strings.TrimSuffix(name, tempSuffix) {
		case lockFile, restoringFile, "lost+found":
		default:
			return fmt.Errorf("cannot restore into %s: it is not empty, it holds %q", u.dir, name)
		}
	}
	return err
}

// begin makes the marker, before anything else in the directory.
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

// createMarker makes a durable empty file.
func (u *unfinished) createMarker(path string) error {
	f, err := u.o.FS.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), u.o.FS.SyncDir(filepath.Dir(path)))
}

// confirm makes the marker one by which the rest of the directory may be removed. The one beside the
// directory is not needed any more.
func (u *unfinished) confirm() error {
	if err := writeChecksummed(u.o.FS, u.marker(), format{formatVersion}); err != nil {
		return err
	}
	beside := besideMarker(u.dir)
	return errors.Join(removeIfThere(u.o.FS, beside), u.o.FS.SyncDir(filepath.Dir(beside)))
}

// clear removes what a restore that did not finish has left. The marker and the lock stay.
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

// withdraw removes what begin has made, because this run does not get the directory. A directory with a
// lock and without a state keeps its markers: another restore may need them, and it must not be opened.
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

// abandon leaves the directory as it was before, and cannot be opened until then. After an error it
// still cannot.
func (u *unfinished) abandon(lock io.Closer) error {
	fsys, beside := u.o.FS, besideMarker(u.dir)
	err := u.clear()
	if err == nil && u.made {
		err = u.createMarker(beside)
	}
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	// Some systems remove no open file.
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

// end makes the directory one that can be opened.
func (u *unfinished) end() error {
	return errors.Join(removeIfThere(u.o.FS, u.marker()), u.o.FS.SyncDir(u.dir))
}

// checkFinished refuses a directory that is empty because a restore into it did not begin in earnest.
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
