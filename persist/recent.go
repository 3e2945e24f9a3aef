package persist

// recent holds the keys of appended batches that the caller has not applied yet, so that conditions
// are checked against the newest state.
type recent struct {
	keys    map[string]keyState
	batches []recentBatch
}

// A keyState is the newest revision of a key, 0 if it does not exist, and the revision from which
// on readers see that; 0 if all do.
type keyState struct{ revision, at Revision }

type recentBatch struct {
	last Revision
	keys []string
}

// A key becomes visible when the whole batch is applied, so at is the last revision of the batch.
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

// forget drops the batches that the caller has applied. Its cost is proportional to their writes.
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
