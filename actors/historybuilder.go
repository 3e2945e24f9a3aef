package actors

import (
	"math"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// historyBuilder rebuilds the histories from the commits of the journal while recovery reads them. It
// drops at once what exceeds the bounds that histories have, so that recovery never needs more memory
// than serving does.
type historyBuilder struct {
	retention  *retention
	oldest     time.Time        // commits before it are not kept
	base       persist.Revision // of the snapshot that recovery began with
	floor      uint64           // every commit above it that was not dropped has been read
	started    bool             // a commit has been read,
	kept       bool             // and one that was not skipped
	newest     map[*collection]uint64
	stateBytes int64 // bytes of all current objects
	tuning     Tuning
	// previousObjects is, for commits that the snapshot holds already, the state that the next commit of
	// the same key replaces.
	previousObjects map[string]previousObject
}

// previousObject is an object as of some commit before the snapshot.
type previousObject struct {
	object    *meta.Object
	exclusive bool // the snapshot does not hold it, so its bytes count
}

func newHistoryBuilder(s *Store) *historyBuilder {
	shared := s.retention
	b := &historyBuilder{
		retention: shared, oldest: s.now().Add(-s.tuning.HistoryTime), tuning: s.tuning,
		newest: make(map[*collection]uint64), previousObjects: make(map[string]previousObject),
	}
	shared.onDrop = b.onDrop
	return b
}

// begin notes that every commit after a revision will be read. What was read before does not lead there, if it is called once more.
func (b *historyBuilder) begin(after persist.Revision) {
	for c := range b.newest {
		b.retention.truncate(c.history, uint64(after))
	}
	clear(b.newest)
	clear(b.previousObjects)
	b.retention.recoveryBytes = 0
	b.started, b.kept, b.floor = true, false, uint64(after)
}

// skip tells of a commit that neither the state nor the history needs, nor one before it. The
// history then begins after it.
func (b *historyBuilder) skip(commit *persist.Commit) bool {
	if !b.started {
		b.started = true
		b.floor = uint64(commit.Revision) - 1
	}
	if b.kept || commit.Revision > b.base || !commit.Time.Before(b.oldest) {
		b.kept = true
		return false
	}
	b.floor = uint64(commit.Revision)
	return true
}

// cut drops the history up to a commit that cannot be read.
func (b *historyBuilder) cut(commit *persist.Commit) {
	b.floor = uint64(commit.Revision)
	b.forget(commit.Key)
	b.retention.expire(commit.Time.Add(1))
}

// setPrevious finds the state before a commit that the snapshot holds already, and remembers the state
// after it. current is the object in the snapshot: if it has the version of the commit, the record uses
// it instead of a copy.
func (b *historyBuilder) setPrevious(commit *persist.Commit, r *record, current *meta.Object) {
	if current != nil && current.Version == r.object.Version {
		r.object = current
	}
	r.previous = b.previousObjects[commit.Key].object
	b.forget(commit.Key)
	if commit.Delete {
		return
	}
	b.previousObjects[commit.Key] = previousObject{r.object, r.object != current}
	if r.object != current {
		b.retention.recoveryBytes += int64(len(r.object.JSON))
	}
}

// forget drops what is remembered of a key.
func (b *historyBuilder) forget(key string) {
	if s := b.previousObjects[key]; s.exclusive {
		b.retention.recoveryBytes -= int64(len(s.object.JSON))
	}
	delete(b.previousObjects, key)
}

// onDrop forgets the state that a dropped record has left behind.
func (b *historyBuilder) onDrop(r *record) {
	if key := r.object.Key.String(); r.version <= uint64(b.base) && b.previousObjects[key].object == r.object {
		b.forget(key)
	}
}

// minHistoryFraction is the part of its budget that the history may use however large the state is.
const minHistoryFraction = 16

// countState counts the bytes of the state: old is replaced; either may be nil. While the state needs
// much memory, which may be only until later commits delete objects, the history gets less.
func (b *historyBuilder) countState(old, replacement *meta.Object) {
	if old != nil {
		b.stateBytes -= int64(len(old.JSON))
	}
	if replacement != nil {
		b.stateBytes += int64(len(replacement.JSON))
	}
	if most := b.tuning.HistoryBytes; b.tuning.MemoryBytes > 0 {
		b.retention.setLimit(min(most, max(b.tuning.MemoryBytes-b.stateBytes, most/minHistoryFraction)))
	}
}

// add appends a commit to the history of its collection.
func (b *historyBuilder) add(c *collection, r *record) {
	if r.version > uint64(b.base) && len(b.previousObjects) > 0 { // from here on the index holds the state before
		clear(b.previousObjects)
		b.retention.recoveryBytes = 0
	}
	r.computeBytes()
	b.newest[c] = r.version
	b.retention.append(c.history, []*record{r})
	b.retention.expire(b.oldest)
}

// finish completes the histories when everything has been read. last is the newest version of all.
func (b *historyBuilder) finish(collections map[meta.GroupResource]*collection, last uint64) {
	floor := last
	if b.started {
		floor = b.floor
	}
	for _, c := range collections {
		c.history.floor.Store(max(floor, c.history.floor.Load()))
	}
	b.retention.onDrop, b.retention.recoveryBytes = nil, 0
	b.retention.setLimit(b.tuning.HistoryBytes)
}

// updateObjects changes the objects of a history in place, and counts their bytes again.
func (b *historyBuilder) updateObjects(h *history, change func(*meta.Object)) {
	records, _ := (&cursor{history: h, chunk: (*h.chunks.Load())[0], after: h.floor.Load()}).read(nil, math.MaxInt, math.MaxUint64)
	for _, r := range records {
		change(r.object)
		if r.previous != nil {
			change(r.previous)
		}
		before := r.bytes
		r.computeBytes()
		b.retention.addBytes(h, r.bytes-before)
	}
	b.retention.trim()
}
