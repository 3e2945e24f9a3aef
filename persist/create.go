package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/buntdb"
)

// RevisionGap is more than the revisions that anybody can have given out since a state was read, whoever goes on writing there. A
// directory that continues from a state that much later gives out no revision twice.
const RevisionGap = 1 << 44

// A State is all that a log keeps, at a revision.
type State struct {
	Labels   map[string]string
	Revision Revision
	// Items delivers the items in any order, each once. They are decoded.
	Items func(yield func(Item) error) error
}

// Create makes a data directory that holds a state and goes on at its revision. The directory must be missing or empty, or one in
// which a Create or a Restore did not finish. Of the options the Transformer and FS count.
func Create(dir string, s State, o Options) error {
	o = o.withDefaults()
	return createDirectory(dir, o, func() (contents, error) {
		db, err := openMemory()
		if err != nil {
			return contents{}, err
		}
		if err := fillMemory(db, s, o.Transformer); err != nil {
			return contents{}, errors.Join(err, db.Close())
		}
		return contents{db, s.Labels, s.Revision}, nil
	})
}

// fillMemory puts a state into memory, as a snapshot stores it.
func fillMemory(db *buntdb.DB, s State, t Transformer) error {
	j := &Journal{o: Options{Transformer: t}}
	return db.Update(func(tx *buntdb.Tx) error {
		return s.Items(func(i Item) error {
			if i.Err != nil {
				return fmt.Errorf("persist: %q cannot be read: %w", i.Key, i.Err)
			}
			if err := j.checkWrite(i.Key); err != nil {
				return err
			}
			value := j.encodeAppend(le.AppendUint64(nil, uint64(i.Revision)), Place{Key: i.Key, Revision: i.Revision}, i.Value)
			_, replaced, err := tx.Set(i.Key, textOf(value), nil)
			if err == nil && replaced {
				err = fmt.Errorf("persist: %q comes twice", i.Key)
			}
			return err
		})
	})
}

// contents are what a new data directory holds. The items are in db, as a snapshot has them.
type contents struct {
	db     *buntdb.DB
	labels map[string]string
	at     Revision
}

// createDirectory makes a data directory of what read answers.
//
// The directory is checked twice: before the lock, so that nothing is made in a directory of something else, and
// after it, because another one may have ended meanwhile.
func createDirectory(dir string, o Options, read func() (contents, error)) (err error) {
	if err := checkRestorable(o, dir); err != nil {
		return err
	}
	o.AcceptDataLoss = true // of the lock file, which does not exist yet
	lock, err := lockDirectory(o, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := checkRestorable(o, dir); err != nil {
		return err
	}
	marker := filepath.Join(dir, restoringFile)
	if err := writeChecksummed(o.FS, marker, format{formatVersion}); err != nil {
		return noSpace(err)
	}
	if err := removeUnfinishedRestore(o, dir); err != nil {
		return err
	}
	c, err := read()
	if err != nil {
		return errors.Join(err, o.FS.Remove(marker), o.FS.SyncDir(dir))
	}
	if err := errors.Join(c.writeDirectory(dir, o), c.db.Close()); err != nil {
		return noSpace(err)
	}
	return errors.Join(o.FS.Remove(marker), o.FS.SyncDir(dir))
}

// writeDirectory writes the state. The marker keeps a half-written directory from ever being opened.
func (c contents) writeDirectory(dir string, o Options) error {
	if err := makeSubdirectories(o.FS, dir); err != nil {
		return err
	}
	if err := writeState(o, dir, c.at, c.db); err != nil {
		return err
	}
	if err := writeChecksummed(o.FS, filepath.Join(dir, labelsFile), withHistory(stateLabels(c.labels))); err != nil {
		return err
	}
	if err := writeControl(o.FS, dir, watermark{clean: true, newest: c.at, maxRevision: c.at}); err != nil {
		return err
	}
	return writeChecksummed(o.FS, filepath.Join(dir, formatFile), format{directoryFormat})
}

// checkRestorable refuses a directory that holds anything but an unfinished restore.
func checkRestorable(o Options, dir string) error {
	names, err := o.FS.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || slices.Contains(names, restoringFile) {
		return nil
	}
	for _, name := range names {
		if name != lockFile && name != restoringFile+tempSuffix && name != "lost+found" {
			return fmt.Errorf("persist: cannot restore into %s: it is not empty, it holds %q", dir, name)
		}
	}
	return err
}

// removeUnfinishedRestore removes what a restore that did not finish has left.
//
// The lock file and the marker stay. The marker protects what is half removed as well as what is half written.
func removeUnfinishedRestore(o Options, dir string) error {
	names, err := o.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		switch strings.TrimSuffix(name, tempSuffix) {
		case formatFile, labelsFile, controlFile:
			err = errors.Join(err, o.FS.Remove(filepath.Join(dir, name)))
		}
	}
	for _, d := range []string{journalDir(dir), snapshotsDir(dir)} {
		inside, fault := o.FS.ReadDir(d)
		if fault != nil && !errors.Is(fault, fs.ErrNotExist) {
			err = errors.Join(err, fault)
		}
		for _, name := range inside {
			err = errors.Join(err, o.FS.Remove(filepath.Join(d, name)))
		}
	}
	return err
}
