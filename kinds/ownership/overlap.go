package ownership

// overlaps tells whether the set of a FieldsV1 text may have paths in common with s. It makes
// nothing of what s does not lead to. What it cannot read may have.
func overlaps(text string, s Set) bool {
	p := parser{text: text}
	found, err := p.overlaps(s)
	return found || err != nil
}

// overlaps reads a set as far as s has the same steps.
func (p *parser) overlaps(s Set) (bool, error) {
	if err := p.expect('{'); err != nil {
		return false, err
	}
	for p.space() != '}' {
		key, err := p.key()
		if err != nil {
			return false, err
		}
		found, err := p.member(key, s)
		if found || err != nil {
			return found, err
		}
		if p.space() == ',' {
			p.pos++
		} else if p.space() != '}' {
			return false, errFields
		}
	}
	p.pos++
	return false, nil
}

// member reads what is below a key, if s has anything there.
func (p *parser) member(key string, s Set) (bool, error) {
	if key == "." {
		return false, p.skip()
	}
	at, known, err := parsePathElement(key)
	if err != nil {
		return false, err
	}
	n := s.find(at)
	switch {
	case !known || n == nil:
		return false, p.skip()
	case n.member:
		return true, nil
	}
	return p.overlaps(n.below)
}

// skip passes over an object.
func (p *parser) skip() error {
	for depth := 0; p.pos < len(p.text); {
		c := p.text[p.pos]
		p.pos++
		switch c {
		case '"':
			for p.pos < len(p.text) && p.text[p.pos] != '"' {
				if p.text[p.pos] == '\\' {
					p.pos++
				}
				p.pos++
			}
			p.pos++
		case '{':
			depth++
		case '}':
			if depth--; depth <= 0 {
				return nil
			}
		}
	}
	return errFields
}
