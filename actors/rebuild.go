package actors

import (
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// rebuild makes the histories anew from the commits of the journal, as they are read, within
// the bounds that histories have: what falls out of these goes at once, so that recovery never
// needs more memory than serving does.
type rebuild struct {
	retained *retention
	oldest   time.Time        // what is older than that is no history any more
	base     persist.Revision // of the snapshot
	floor    uint64           // every commit above it that was not dropped has been read
	began    bool             // there was a commit
	newest   map[*collection]uint64
	state    int64 // bytes of the objects that there are
	tuning   Tuning
	// seen is the state before, by key, of what happened before the snapshot, as far as the
	// history reaches.
	seen map[string]sighting
}

// sighting is an object as of some commit before the snapshot.
type sighting struct {
	object *meta.Object
	alone  bool // the snapshot does not hold it: the budget does
}

func newRebuild(s *Store) *rebuild {
	retained := s.retained
	b := &rebuild{
		retained: retained, oldest: s.now().Add(-s.tuning.HistoryTime), tuning: s.tuning,
		newest: make(map[*collection]uint64), seen: make(map[string]sighting),
	}
	retained.dropped = b.dropped
	return b
}

// skips tells of a commit that neither the state nor the history needs. It begins the history
// behind it.
func (b *rebuild) skips(commit *persist.Commit) bool {
	if !b.began {
		b.began = true
		b.floor = uint64(commit.Revision) - 1
	}
	if commit.Revision > b.base || !commit.Time.Before(b.oldest) || uint64(commit.Revision) != b.floor+1 {
		return false
	}
	b.floor = uint64(commit.Revision)
	return true
}

// before finds the state before a commit that the snapshot holds, and steps over it. current is
// what the snapshot has of its key: the commit's object, if that is of its version, is replaced
// by it, so that it is there once.
func (b *rebuild) before(commit *persist.Commit, r *record, current *meta.Object) {
	if current != nil && current.Version == r.object.Version {
		r.object = current
	}
	r.previous = b.seen[commit.Key].object
	b.forget(commit.Key)
	if commit.Delete {
		return
	}
	b.seen[commit.Key] = sighting{r.object, r.object != current}
	if r.object != current {
		b.retained.held += int64(len(r.object.JSON))
	}
}

// forget drops the state before of a key.
func (b *rebuild) forget(key string) {
	if s := b.seen[key]; s.alone {
		b.retained.held -= int64(len(s.object.JSON))
	}
	delete(b.seen, key)
}

// dropped forgets with a record what only it tells of.
func (b *rebuild) dropped(r *record) {
	if key := r.object.Key.String(); r.version <= uint64(b.base) && b.seen[key].object == r.object {
		b.forget(key)
	}
}

// leastHistory is the part of its budget that the history keeps however large the state is.
const leastHistory = 16

// replace counts the state: one object goes and another comes, either of which may be nil. The
// history gives way where the state needs its memory, which it may be for some time only.
func (b *rebuild) replace(gone, come *meta.Object) {
	if gone != nil {
		b.state -= int64(len(gone.JSON))
	}
	if come != nil {
		b.state += int64(len(come.JSON))
	}
	if most := b.tuning.HistoryBytes; b.tuning.MemoryBytes > 0 {
		b.retained.allow(min(most, max(b.tuning.MemoryBytes-b.state, most/leastHistory)))
	}
}

// add takes a commit into the history of its collection.
func (b *rebuild) add(c *collection, r *record) {
	if r.version > uint64(b.base) && len(b.seen) > 0 { // from here on the index has the state before
		clear(b.seen)
		b.retained.held = 0
	}
	r.weigh()
	b.newest[c] = r.version
	b.retained.append(c.history, []*record{r})
	b.retained.expire(b.oldest)
}

// finish opens the histories for those who read. last is the newest version of all.
func (b *rebuild) finish(collections map[meta.GroupResource]*collection, last uint64) {
	floor := last
	if b.began {
		floor = b.floor
	}
	for _, c := range collections {
		c.history.floor.Store(max(floor, c.history.floor.Load()))
	}
	b.retained.dropped, b.retained.held = nil, 0
	b.retained.allow(b.tuning.HistoryBytes)
}

// revise lets objects of a history be changed where they are, and counts them again.
func (b *rebuild) revise(h *history, change func(*meta.Object)) {
	records, _ := (&cursor{history: h, chunk: (*h.chunks.Load())[0], after: h.floor.Load()}).read(nil, int(^uint(0)>>1))
	for _, r := range records {
		change(r.object)
		if r.previous != nil {
			change(r.previous)
		}
		before := r.bytes
		r.weigh()
		b.retained.count(h, r.bytes-before)
	}
	b.retained.trim()
}
