package persist

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

// A LocalCopy is a snapshot of a state that another store keeps, in a directory of its own: who holds it need not read all of
// that store again. It is never the only place where something is, so that it may be removed at any time. Its files are those of the
// snapshots of a Journal.
type LocalCopy struct {
	FS  vfs.FS // nil: the disk
	Dir string
}

// A CopiedState is what a LocalCopy holds.
type CopiedState struct {
	Revision Revision
	// Origin is what the writer has noted of where the state comes from, JSON.
	Origin []byte
	Items  []Item // in ascending order of their keys
}

// Write puts the state at a revision in the place of the one that is there. The items come in ascending order of their keys. origin is asked
// after the last of them; an error of either keeps what is there. Until the new state is durable and was read back, the old one stays: so there
// are two at most.
func (c LocalCopy) Write(at Revision, items func(yield func(Item) bool) error, origin func() ([]byte, error)) error {
	fs := c.fs()
	if err := fs.MkdirAll(snapshotsDir(c.Dir)); err != nil {
		return err
	}
	err := removeOrphans(fs, c.Dir) // first, for room
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

// Load reads the newest state, and checks all of it before it answers. The error is fs.ErrNotExist if there is none.
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

// Remove removes every state that is there.
func (c LocalCopy) Remove() error {
	err := removeOldSnapshots(c.fs(), c.Dir, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (c LocalCopy) fs() vfs.FS { return cmp.Or[vfs.FS](c.FS, vfs.OS{}) }
