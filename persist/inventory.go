package persist

import "sync"

// An inventory is what the data directory holds. newest, reserved and synced change under Journal.writeMu only,
// whose holder may read them without this lock. Segments are added under writeMu, and dropped under filesMu.
type inventory struct {
	mu       sync.Mutex // held for moments
	segments []segment  // ascending; the last is the active one
	newest   Revision   // the newest revision ever assigned
	reserved int64      // length of the active segment's file; after its last batch come zeros
	synced   bool       // all of it is durable, also under SyncNone
	rotate   bool       // begin a new segment with the next batch
	base     Revision   // of the newest snapshot
	hasBase  bool
	stats    Stats
}

// active returns the segment that grows. There is one once a journal has been recovered, unless the disk was full.
func (i *inventory) active() segment {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.segments[len(i.segments)-1]
}
