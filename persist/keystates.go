package persist

// keyStates holds the newest state of each key, against which conditions are checked. With a caller
// that keeps states, recent holds the commits that the caller has not applied yet.
type keyStates struct {
	caller    AppliedState // nil: revisions has all states
	recent    recent
	revisions map[string]Revision
}

func (s *keyStates) begin(caller AppliedState) {
	if s.caller = caller; caller == nil {
		s.revisions = map[string]Revision{}
	}
}

func (s *keyStates) of(key string) keyState {
	if s.revisions != nil {
		return keyState{revision: s.revisions[key]}
	}
	if state, ok := s.recent.keys[key]; ok {
		return state
	}
	return keyState{revision: s.caller.CurrentRevision(key)}
}

func (s *keyStates) forgetApplied() {
	if s.caller != nil {
		s.recent.forget(s.caller.AppliedRevision())
	}
}

func (s *keyStates) add(batch []Commit) {
	if s.revisions == nil {
		s.recent.remember(batch)
		return
	}
	for i := range batch {
		s.set(&batch[i])
	}
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
