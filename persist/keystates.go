package persist

// keyStates knows the newest state of each key, which the conditions of writes are checked against.
//
// The caller of Recover keeps the states, and applies commits in its own time; recent holds what it has not applied yet.
// For a caller without states of its own, the journal keeps all revisions.
type keyStates struct {
	lookup    func(key string) Revision // Recovery.CurrentRevision; nil: revisions has them all
	applied   func() Revision           // Recovery.AppliedRevision
	recent    recent
	revisions map[string]Revision
}

// recover begins with the state that a Recovery is about to deliver.
func (s *keyStates) recover(r Recovery) {
	s.lookup, s.applied = r.CurrentRevision, r.AppliedRevision
	if s.lookup == nil {
		s.revisions = map[string]Revision{}
	}
}

// of returns the state of a key before the batch.
func (s *keyStates) of(key string) keyState {
	if s.revisions != nil {
		return keyState{revision: s.revisions[key]}
	}
	if state, ok := s.recent.keys[key]; ok {
		return state
	}
	return keyState{revision: s.lookup(key)}
}

// forgetApplied drops what the caller has applied. newest is the newest revision that it has received.
func (s *keyStates) forgetApplied(newest Revision) {
	if s.lookup == nil {
		return
	}
	if s.applied != nil {
		newest = s.applied()
	}
	s.recent.forget(newest)
}

// add takes in a durable batch.
func (s *keyStates) add(batch []Commit) {
	if s.revisions == nil {
		s.recent.remember(batch)
		return
	}
	for i := range batch {
		s.set(&batch[i])
	}
}

// set takes in one commit, where the journal keeps all revisions.
func (s *keyStates) set(c *Commit) {
	switch {
	case s.revisions == nil:
	case c.Delete:
		delete(s.revisions, c.Key)
	default:
		s.revisions[c.Key] = c.Revision
	}
}
