package persist

// keyStates holds the newest revision of each key, to check conditions.
type keyStates struct {
	caller    AppliedState        // nil: the caller keeps no states
	revisions map[string]Revision // revisions of all keys; nil if the caller keeps states
	// recent and batches hold the commits that the caller has not applied yet.
	recent  map[string]keyState
	batches []recentBatch
}

// A keyState is a key's newest revision, or 0 if the key does not exist. It becomes visible to
// readers when the caller applies revision at. If at is 0, it is already visible.
type keyState struct{ revision, at Revision }

type recentBatch struct {
	last Revision
	keys []string
}

func (s *keyStates) begin(caller AppliedState) {
	if s.caller = caller; caller == nil {
		s.revisions = map[string]Revision{}
	} else {
		s.recent = map[string]keyState{}
	}
}

func (s *keyStates) of(key string) keyState {
	if s.revisions != nil {
		return keyState{revision: s.revisions[key]}
	}
	if state, ok := s.recent[key]; ok {
		return state
	}
	return keyState{revision: s.caller.CurrentRevision(key)}
}

func (s *keyStates) forgetApplied() {
	if s.caller == nil {
		return
	}
	applied, n := s.caller.AppliedRevision(), 0
	for ; n < len(s.batches) && s.batches[n].last <= applied; n++ {
		for _, key := range s.batches[n].keys {
			if k, ok := s.recent[key]; ok && k.at <= applied {
				delete(s.recent, key)
			}
		}
	}
	if n > 0 {
		s.batches = append(s.batches[:0], s.batches[n:]...)
	}
}

// add records a batch. Its keys become visible once the whole batch is applied, so at is the
// batch's last revision.
func (s *keyStates) add(batch []Commit) {
	if s.revisions != nil {
		for i := range batch {
			s.set(&batch[i])
		}
		return
	}
	last, keys := batch[len(batch)-1].Revision, make([]string, len(batch))
	for i := range batch {
		c, k := &batch[i], keyState{at: last}
		if !c.Delete {
			k.revision = c.Revision
		}
		keys[i], s.recent[c.Key] = c.Key, k
	}
	s.batches = append(s.batches, recentBatch{last, keys})
}

func (s *keyStates) set(c *Commit) {
	switch {
	case s.revisions == nil:
	case c.Delete:
		delete(s.revisions, c.Key)
	default:
		s.revisions[c.Key] = c.Revision
	}
}
