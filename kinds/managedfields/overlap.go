package managedfields

import "github.com/troupe-api/troupe/kinds/jsontext"

// overlaps reports whether a set, given as FieldsV1, may share paths with s. It skips members that
// s lacks instead of parsing the whole set.
func overlaps(text string, s Set) bool {
	p := parser{jsontext.Scanner{Text: text, Limit: jsontext.MaxStoredDepth}}
	found, err := p.overlaps(s)
	return found || err != nil
}

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
