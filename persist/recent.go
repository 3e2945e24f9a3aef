package persist

// recent remembers the keys of batches that are appended but that the caller has not applied
// yet, so that conditions are checked against the newest state and not against an older one.
type recent struct {
	keys    map[string]keyState
	batches []recentBatch
}

// A keyState is the newest revision of a key, 0 if it does not exist, and the revision from which on
// a reader sees that; 0 if every reader does.
type keyState struct{ revision, at Revision }

type recentBatch struct {
	last Revision
	keys []string
}

// remember adds a durable batch.
//
// A key is seen once the whole batch is applied: at is the last revision of the batch, not that of the write.
func (r *recent) remember(batch []Commit) {
	last := batch[len(batch)-1].Revision
	keys := make([]string, len(batch))
	for i, c := range batch {
		keys[i] = c.Key
		k := keyState{at: last}
		if !c.Delete {
			k.revision = c.Revision
		}
		r.keys[c.Key] = k
	}
	r.batches = append(r.batches, recentBatch{last, keys})
}

// forget drops the batches that the caller has applied.
//
// A key that a later batch has written as well stays, with the state that that one left. The cost is one step for
// each write that was applied since the last call.
func (r *recent) forget(applied Revision) {
	n := 0
	for ; n < len(r.batches) && r.batches[n].last <= applied; n++ {
		for _, key := range r.batches[n].keys {
			if k, ok := r.keys[key]; ok && k.at <= applied {
				delete(r.keys, key)
			}
		}
	}
	if n > 0 {
		r.batches = append(r.batches[:0], r.batches[n:]...)
	}
}
