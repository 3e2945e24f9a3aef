package ownership

import "github.com/troupe-api/troupe/kinds/jsontext"

// overlaps tells whether the set of a FieldsV1 text may have paths in common with s. It reads only what
// s leads to and builds nothing: most writes touch nothing that the other managers own, and their sets
// are never parsed. For a text that cannot be read the answer is yes.
//
// An example: for the set of spec.replicas it enters f:spec of the text, passes by all other members, and
// answers yes if there is f:replicas.
func overlaps(text string, s Set) bool {
	p := parser{jsontext.Scanner{Text: text, Limit: jsontext.MaxStoredDepth}}
	found, err := p.overlaps(s)
	return found || err != nil
}

// overlaps reads a set as far as s has the same path elements.
func (p *parser) overlaps(s Set) (bool, error) {
	if err := p.open(); err != nil {
		return false, err
	}
	for first := true; ; first = false {
		key, more, err := p.Key(first)
		if err != nil || !more {
			return false, err
		}
		found, err := p.memberOverlaps(key, s)
		if found || err != nil {
			return found, err
		}
	}
}

// memberOverlaps reads what is below a key, if s has anything there.
func (p *parser) memberOverlaps(key string, s Set) (bool, error) {
	if key == "." {
		return false, p.Skip()
	}
	at, known, err := parsePathElement(key)
	if err != nil {
		return false, err
	}
	n := s.find(at)
	switch {
	case !known || n == nil:
		return false, p.Skip()
	case n.member:
		return true, nil
	}
	return p.overlaps(n.below)
}
