package actors

import (
	"fmt"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// recovery rebuilds indexes and histories from the log.
type recovery struct {
	store *Store
	base  persist.Revision
	first persist.Revision // oldest commit that the log holds; 0 if none
	trees map[*collection]*tree
	news  map[*collection][]*record
	// seen is the state before, by key, of what happened before the snapshot.
	seen map[string]*meta.Object
	// parked is what was found of custom objects, in order: their definitions come first.
	parked []parked
}

// recover fills the collections with what the log holds.
func (s *Store) recover() error {
	r := &recovery{store: s, trees: make(map[*collection]*tree), news: make(map[*collection][]*record), seen: make(map[string]*meta.Object)}
	for _, k := range s.catalog.Stored() {
		r.add(s.newCollection(k.Storage, k))
	}
	last, err := s.log.Recover(persist.Recovery{
		Item: r.item, Base: r.setBase, Commit: r.commit, Current: s.revision, Applied: s.applied,
	})
	if err == nil {
		err = r.custom()
	}
	if err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	floor := uint64(last)
	if r.first > 0 {
		floor = uint64(r.first) - 1
	}
	oldest := s.now().Add(-s.tuning.HistoryTime)
	for _, c := range s.all() {
		c.history = newHistory(floor)
		for _, record := range r.news[c] {
			c.history.append(record)
		}
		c.history.trim(oldest, s.tuning.HistoryBytes)
		c.published.Store(&snapshot{objects: r.trees[c], lookups: newLookups(c.kind(), r.trees[c]), version: newest(r.news[c])})
	}
	s.horizon.version = uint64(last)
	return nil
}

func newest(records []*record) uint64 {
	if len(records) == 0 {
		return 0
	}
	return records[len(records)-1].version
}

// item takes one key of the snapshot.
func (r *recovery) item(i persist.Item) error {
	if r.park(i.Key, func() error { return r.item(i) }) {
		return nil
	}
	c, object, err := r.store.decode(i.Key, i.Revision, i.Value)
	if err != nil {
		return err
	}
	r.trees[c].Load(path(object.Key.Namespace, object.Key.Name), object)
	return nil
}

func (r *recovery) setBase(base persist.Revision) error {
	r.base = base
	return nil
}

// commit takes one commit of the journal: as history only if the snapshot holds it.
func (r *recovery) commit(commit persist.Commit) error {
	if r.first == 0 {
		r.first = commit.Revision
	}
	if r.park(commit.Key, func() error { return r.commit(commit) }) {
		return nil
	}
	c, object, err := r.store.decode(commit.Key, commit.Revision, commit.Value)
	if err != nil {
		return err
	}
	record := &record{version: object.Version, time: commit.Time, kind: changed, object: object}
	if commit.Delete {
		record.kind = removed
	}
	if err := r.previous(c, record, commit); err != nil {
		return err
	}
	r.news[c] = append(r.news[c], record)
	return nil
}

// previous finds the state before a commit, and steps over it.
func (r *recovery) previous(c *collection, record *record, commit persist.Commit) error {
	at := path(record.object.Key.Namespace, record.object.Key.Name)
	switch {
	case commit.Revision <= r.base:
		record.previous = r.seen[commit.Key]
		if commit.Delete {
			delete(r.seen, commit.Key)
		} else {
			r.seen[commit.Key] = record.object
		}
	case commit.Delete:
		record.previous, _ = r.trees[c].Delete(at)
	default:
		record.previous, _ = r.trees[c].Set(at, record.object)
	}
	if len(commit.Note) > 0 && commit.Note[0] == noteCreated {
		record.kind = created
		return nil
	}
	if record.previous == nil && len(commit.Note) > 0 && commit.Note[0] == notePrevious {
		previous, err := codec.NewObject(c.kind(), record.object.Key, 0, commit.Note[1:])
		if err != nil {
			return fmt.Errorf("stored note of %q: %w", commit.Key, err)
		}
		record.previous = previous
	}
	return nil
}

// keep looks after what depends on time, until the store closes. What was recovered may
// be long enough for a snapshot: a process that never lives for a second gets one too.
func (s *Store) keep() {
	defer s.keeping.Done()
	s.snapshotIfDue()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			for _, c := range s.all() {
				s.system.Root.Send(c.pid, tick{s.now()})
			}
			s.snapshotIfDue()
		}
	}
}
