package actors

import (
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// historyBuilder rebuilds the histories from the journal during recovery. It drops records as soon
// as they exceed the memory budget, so that recovery needs no more memory than normal operation.
type historyBuilder struct {
	retention  *retention
	oldest     time.Time        // earlier commits are not kept
	base       persist.Revision // revision of the recovered snapshot
	floor      uint64           // all later commits that were not dropped have been read
	started    bool             // a commit was read
	kept       bool             // a commit was not skipped
	newest     map[*collection]uint64
	stateBytes int64 // bytes of all current objects
	tuning     Tuning
	// previousObjects maps a key to the object that the next commit for the key replaces. It is
	// used only while recovery reads commits that the snapshot already includes.
	previousObjects map[string]previousObject
}

type previousObject struct {
	object    *meta.Object
	exclusive bool // not shared with the snapshot, so its bytes count
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

func (b *historyBuilder) begin(after persist.Revision) {
	for c := range b.newest {
		b.retention.truncate(c.history, uint64(after))
	}
	clear(b.newest)
	clear(b.previousObjects)
	b.retention.recoveryBytes = 0
	b.started, b.kept, b.floor = true, false, uint64(after)
}

// skip reports whether recovery can skip a commit and all earlier ones, because neither the objects
// nor the history need them. The history then begins after that commit.
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

func (b *historyBuilder) cut(commit *persist.Commit) {
	b.floor = uint64(commit.Revision)
	b.forget(commit.Key)
	b.retention.expire(commit.Time.Add(1))
}

// setPrevious sets r.previous for a commit that the snapshot already includes. It remembers the new
// object, which the next commit for the key replaces. If current, the object in the snapshot, has
// the commit's version, r shares it.
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

func (b *historyBuilder) forget(key string) {
	if s := b.previousObjects[key]; s.exclusive {
		b.retention.recoveryBytes -= int64(len(s.object.JSON))
	}
	delete(b.previousObjects, key)
}

func (b *historyBuilder) onDrop(r *record) {
	if key := r.object.Key.String(); r.version <= uint64(b.base) && b.previousObjects[key].object == r.object {
		b.forget(key)
	}
}

// minHistoryFraction guarantees the history at least 1/minHistoryFraction of its budget during
// recovery, regardless of the size of the objects.
const minHistoryFraction = 16

// countState updates the total object size after replacement replaces old. Either may be nil. The
// history limit shrinks as the objects grow.
func (b *historyBuilder) countState(old, replacement *meta.Object) {
	if old != nil {
		b.stateBytes -= int64(len(old.JSON))
	}
	if replacement != nil {
		b.stateBytes += int64(len(replacement.JSON))
	}
	if limit := b.tuning.HistoryBytes; b.tuning.MemoryBytes > 0 {
		b.retention.setLimit(min(limit, max(b.tuning.MemoryBytes-b.stateBytes, limit/minHistoryFraction)))
	}
}

func (b *historyBuilder) add(c *collection, r *record) {
	if r.version > uint64(b.base) && len(b.previousObjects) > 0 { // the index has the previous states from here on
		clear(b.previousObjects)
		b.retention.recoveryBytes = 0
	}
	r.computeBytes()
	b.newest[c] = r.version
	b.retention.append(c.history, []*record{r})
	b.retention.expire(b.oldest)
}

// finish completes the histories after the last commit.
func (b *historyBuilder) finish(collections map[meta.GroupResource]*collection) {
	for _, c := range collections {
		c.history.floor.Store(max(b.floor, c.history.floor.Load()))
	}
	b.retention.onDrop, b.retention.recoveryBytes = nil, 0
	b.retention.setLimit(b.tuning.HistoryBytes)
}

func (b *historyBuilder) updateObjects(h *history, change func(*meta.Object)) {
	for _, r := range h.all() {
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
