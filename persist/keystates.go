package persist

// keyStates knows the newest state of each key, which the conditions of writes are checked against.
//
// The caller of Recover keeps the states, and applies commits in its own time; recent holds what it has not applied yet.
// For a caller without states of its own, the journal keeps all revisions.
type keyStates struct {
	caller    AppliedState // nil: revisions has them all
	recent    recent
	revisions map[string]Revision
}

// begin is called before a recovery delivers to the caller.
func (s *keyStates) begin(caller AppliedState) {
	if s.caller = caller; caller == nil {
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
	return keyState{revision: s.caller.CurrentRevision(key)}
}

// forgetApplied drops what the caller has applied.
func (s *keyStates) forgetApplied() {
	if s.caller != nil {
		s.recent.forget(s.caller.AppliedRevision())
	}
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
