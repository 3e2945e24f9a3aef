package actors

import (
	"fmt"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

type recovery struct {
	store   *Store
	history *historyBuilder
	trees   map[*collection]*objectIndex
	ahead   decodeAhead
	last    uint64 // newest version
	floor   uint64 // of the histories of added collections
}

func (s *Store) recover(image *Image) error {
	r := &recovery{store: s, history: newHistoryBuilder(s), trees: make(map[*collection]*objectIndex)}
	all := map[meta.GroupResource]*collection{}
	for _, k := range s.catalog.StorageKinds() {
		all[k.Storage] = r.newCollection(k.Storage, k)
	}
	s.collections.Store(&all)
	read := r.readLog
	if image != nil {
		read = func() error { return r.load(image) }
	}
	err := read()
	if err == nil {
		err = r.registerCustomKinds()
	}
	if err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	r.history.finish(s.allCollections())
	for _, c := range s.allCollections() {
		c.published.Store(&snapshot{objects: r.trees[c], fieldIndexes: newFieldIndexes(c.kind(), r.trees[c]), version: r.history.newest[c]})
	}
	s.appliedRevision.version = r.last
	return nil
}

func (r *recovery) readLog() error {
	last, err := r.store.log.Recover(persist.Recovery{
		Item: r.item, Base: r.setBase, HistoryAfter: r.history.begin, Commit: r.commit, State: publishedState{r.store},
	})
	if err == nil {
		err = r.finishDecoding()
	}
	if !r.history.started {
		r.history.floor = uint64(last)
	}
	r.last = uint64(last)
	return err
}

func (r *recovery) item(i persist.Item) error {
	if i.Err != nil {
		r.store.quarantine.put(newUnreadable(i, i.Err))
		return nil
	}
	return r.decode(decoding{key: i.Key, revision: i.Revision, value: i.Value})
}

func (r *recovery) applyItem(d *decoding) {
	if d.err != nil {
		r.store.addToQuarantine(d.key, d.revision, d.value, d.err)
		return
	}
	r.trees[d.collection].Load(pathOf(d.key), d.object)
	r.history.countState(nil, d.object)
}

func (r *recovery) setBase(base persist.Revision) error {
	if err := r.finishDecoding(); err != nil {
		return err
	}
	r.history.base = base
	return nil
}

// commit handles one journal commit. If the snapshot already includes it, commit only adds it to
// the history.
func (r *recovery) commit(commit persist.Commit) error {
	if r.history.skip(&commit) {
		return nil
	}
	if commit.Err != nil { // earlier commits must be applied first
		if err := r.finishDecoding(); err != nil {
			return err
		}
		r.sealed(&commit)
		return nil
	}
	return r.decode(decoding{key: commit.Key, revision: commit.Revision, value: commit.Value, commit: &commit})
}

func (r *recovery) applyCommit(d *decoding) error {
	commit, object := d.commit, d.object
	if d.err != nil {
		r.unreadable(commit, d.err)
		return nil
	}
	if commit.Revision > r.history.base {
		r.store.quarantine.drop(commit.Key)
	}
	record := &record{version: object.Version, time: commit.Time, kind: changed, object: object}
	if commit.Delete {
		record.kind = removed
	}
	if err := r.setPrevious(d.collection, record, *commit); err != nil {
		return err
	}
	r.history.add(d.collection, record)
	return nil
}

// setPrevious sets the record's previous state, and applies the commit to the index unless the
// snapshot includes it.
func (r *recovery) setPrevious(c *collection, record *record, commit persist.Commit) error {
	at := pathOf(commit.Key)
	switch {
	case commit.Revision <= r.history.base:
		current, _ := r.trees[c].Get(at)
		r.history.setPrevious(&commit, record, current)
	case commit.Delete:
		record.previous, _ = r.trees[c].Delete(at)
		r.history.countState(record.previous, nil)
	default:
		record.previous, _ = r.trees[c].Set(at, record.object)
		r.history.countState(record.previous, record.object)
	}
	if creates(&commit) {
		record.kind = created
		return nil
	}
	if record.previous == nil && len(commit.Metadata) > 0 && commit.Metadata[0] == previousStateFollows {
		previous, err := codec.NewObject(c.kind(), record.object.Key, 0, commit.Metadata[1:])
		if err != nil { // watches that selected only the previous state then miss the event
			r.store.logger.Error("cannot decode the previous state of an object", "key", record.object.Key.String(), "error", err)
			return nil
		}
		record.previous = previous
	}
	return nil
}

// maintain does periodic work every second until the store closes. The first run is immediate, so
// that a process that restarts often still writes snapshots.
func (s *Store) maintain() {
	defer s.maintenance.Done()
	s.snapshotIfDue()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case answer := <-s.compactions:
			answer <- s.compact()
		case <-ticker.C:
			s.retention.expire(s.now().Add(-s.tuning.HistoryTime))
			s.expireLogged(s.now().Add(-s.tuning.HistoryTime))
			for _, c := range s.allCollections() {
				c.publisher.Send(tick{s.now()})
			}
			s.snapshotIfDue()
		}
	}
}
