package persist

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tidwall/buntdb"
)

// RevisionGap exceeds the number of revisions that any process can assign after a state was read. A
// directory created from that state skips RevisionGap revisions, so that none is reused.
const RevisionGap = 1 << 44

// A State is the content of a log at a revision.
type State struct {
	Labels   map[string]string
	Revision Revision
	// Items passes each decoded item to yield once, in any order.
	Items func(yield func(Item) error) error
	// Files writes other files of the directory before it can be opened. It may be nil.
	Files func() error
}

// Create creates a data directory with the state that read returns. Later writes get higher
// revisions than the state. dir must be missing, empty, or left by an unfinished Create or Restore.
// The directory cannot be opened until it is complete. Of the options, only Transformer and FS
// apply.
func Create(dir string, read func() (State, error), o Options) error {
	o = o.withDefaults()
	return createDirectory(dir, o, func() (contents, error) {
		s, err := read()
		if err != nil {
			return contents{}, err
		}
		db, err := openMemory()
		if err != nil {
			return contents{}, err
		}
		if err := fillMemory(db, s, o.Transformer); err != nil {
			return contents{}, errors.Join(err, db.Close())
		}
		return contents{db, s.Labels, s.Revision, s.Files}, nil
	})
}

func fillMemory(db *buntdb.DB, s State, t Transformer) error {
	j := &Journal{o: Options{Transformer: t}}
	return db.Update(func(tx *buntdb.Tx) error {
		return s.Items(func(i Item) error {
			if i.Err != nil {
				return fmt.Errorf("%q cannot be read: %w", i.Key, i.Err)
			}
			if err := j.checkWrite(i.Key); err != nil {
				return err
			}
			value := j.encodeAppend(le.AppendUint64(nil, uint64(i.Revision)), Place{Key: i.Key, Revision: i.Revision}, i.Value)
			_, replaced, err := tx.Set(i.Key, textOf(value), nil)
			if err == nil && replaced {
				err = fmt.Errorf("%q occurs twice", i.Key)
			}
			return err
		})
	})
}

// contents is the initial content of a data directory. db contains the items in snapshot format.
type contents struct {
	db     *buntdb.DB
	labels map[string]string
	at     Revision
	files  func() error
}

// createDirectory creates a data directory from the result of read, or leaves dir unchanged. It
// checks dir before locking it, to avoid creating files in an unrelated directory, and again
// afterwards, because another Create may have completed the directory.
func createDirectory(dir string, o Options, read func() (contents, error)) (err error) {
	u := &unfinished{o: o, dir: dir}
	if err := u.check(); err != nil {
		return err
	}
	if err := u.begin(); err != nil {
		return errors.Join(noSpace(err), u.withdraw())
	}
	o.AcceptDataLoss = true // the lock file may be missing
	lock, err := lockDirectory(o, dir)
	if err == nil {
		if err = u.check(); err != nil {
			err = errors.Join(err, lock.Close())
		}
	}
	if err != nil {
		return errors.Join(err, u.withdraw())
	}
	err = u.confirm()
	if err == nil {
		err = u.clear()
	}
	var c contents
	if err == nil {
		if c, err = read(); err == nil {
			err = errors.Join(c.writeDirectory(dir, o), c.db.Close())
		}
	}
	if err != nil {
		return errors.Join(noSpace(err), u.abandon(lock))
	}
	return errors.Join(u.end(), lock.Close())
}

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
	if c.files != nil {
		if err := c.files(); err != nil {
			return err
		}
	}
	return writeChecksummed(o.FS, filepath.Join(dir, formatFile), format{directoryFormat})
}
