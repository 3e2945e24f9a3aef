package persist

import "sync"

// An inventory describes the content of the data directory. newest, reserved and synced change only
// under Journal.writeMu, so that a holder of writeMu may read them without mu. Segments are added
// under writeMu and dropped under filesMu.
type inventory struct {
	mu       sync.Mutex // held only briefly
	segments []segment  // ascending; the last is the active one
	newest   Revision   // newest assigned revision
	reserved int64      // length of the active segment's file; zeros follow its last batch
	synced   bool       // whether all bytes are durable, even under SyncNone
	rotate   bool       // whether the next batch begins a new segment
	base     Revision   // revision of the newest snapshot
	hasBase  bool
	stats    Stats
}

func (i *inventory) active() segment {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.segments[len(i.segments)-1]
}
