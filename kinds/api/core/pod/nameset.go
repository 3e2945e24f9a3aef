package pod

// A nameSet finds repeated names. Small sets need no allocation. The zero value is empty and not
// safe for concurrent use.
type nameSet struct {
	few  [16]string
	n    int
	many map[string]bool
}

// add adds a name and reports whether it was present.
func (s *nameSet) add(name string) bool {
	for _, known := range s.few[:s.n] {
		if known == name {
			return true
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return false
	}
	if s.many[name] {
		return true
	}
	if s.many == nil {
		s.many = map[string]bool{}
	}
	s.many[name] = true
	return false
}
