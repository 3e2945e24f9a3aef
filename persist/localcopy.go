package persist

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

// A LocalCopy is a local snapshot of another store's state, in the format of a Journal's snapshots.
// It avoids reading the whole state from that store, and can be removed at any time.
type LocalCopy struct {
	FS  vfs.FS // nil: the operating system's
	Dir string
}

// A CopiedState is the content of a LocalCopy.
type CopiedState struct {
	Revision Revision
	// Origin is JSON written by the caller to identify the state's source.
	Origin []byte
	Items  []Item // in ascending order of their keys
}

// Write replaces the stored state with the one at revision at. items must yield items in ascending
// key order. origin is called after items. The old state is removed only after the new one is
// durable and was read back. After an error, the old state remains.
func (c LocalCopy) Write(at Revision, items func(yield func(Item) bool) error, origin func() ([]byte, error)) error {
	fs := c.fs()
	if err := fs.MkdirAll(snapshotsDir(c.Dir)); err != nil {
		return err
	}
	err := removeOrphans(fs, c.Dir) // frees space for the new snapshot
	if err == nil {
		_, err = putSnapshot(fs, c.Dir, at, items, func(m *manifest) (err error) {
			m.Time = time.Now().UnixNano()
			m.Origin, err = origin()
			return err
		})
	}
	if err != nil {
		return noSpace(fmt.Errorf("copy of the state at revision %d: %w", at, err))
	}
	return removeOldSnapshots(fs, c.Dir, at)
}

// Load reads and verifies the newest state. It returns fs.ErrNotExist if there is none.
func (c LocalCopy) Load() (*CopiedState, error) {
	all, err := listSnapshots(c.fs(), c.Dir)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fs.ErrNotExist
	}
	parts, m, err := loadParts(c.fs(), c.Dir, all[0])
	if err != nil {
		return nil, err
	}
	s := &CopiedState{Revision: m.Revision, Origin: m.Origin, Items: make([]Item, 0, m.Items)}
	err = parts.each(func(i Item) error {
		s.Items = append(s.Items, i)
		return nil
	})
	return s, errors.Join(err, parts.Close())
}

// Remove removes all stored states.
func (c LocalCopy) Remove() error {
	err := removeOldSnapshots(c.fs(), c.Dir, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (c LocalCopy) fs() vfs.FS { return cmp.Or[vfs.FS](c.FS, vfs.OS{}) }
