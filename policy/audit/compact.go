package audit

// appendCompactJSON appends a JSON document, which must be valid, without white space and with
// everything escaped that is not printable. If told so it leaves out the managed fields of the
// object that it is, of the items of a list and of the rows of a table.
func appendCompactJSON(b, doc []byte, omitManagedFields bool) []byte {
	d := compactor{b: b, rest: doc}
	at := posOther
	if omitManagedFields {
		at = posObject
	}
	d.value(at)
	return d.b
}

// A document is copied piece by piece.
type compactor struct {
	b    []byte // what has been copied
	rest []byte // what has not
}

// A place is where in a document a value stands.
type position uint8

const (
	posOther  position = iota
	posObject          // which has metadata, or items or rows
	posMetadata
	posObjectList // a list of objects
	posRowList    // a list of rows
	posRow
	posDropped
)

// member is the place of a member.
func (p position) member(name string) position {
	switch {
	case p == posObject && name == `"metadata"`:
		return posMetadata
	case p == posObject && name == `"items"`:
		return posObjectList
	case p == posObject && name == `"rows"`:
		return posRowList
	case p == posRow && name == `"object"`:
		return posObject
	case p == posMetadata && name == `"managedFields"`:
		return posDropped
	}
	return posOther
}

// element is the place of an element of a list.
func (p position) element() position {
	switch p {
	case posObjectList:
		return posObject
	case posRowList:
		return posRow
	}
	return posOther
}

// next is the next byte that is no white space; 0 at the end.
func (d *compactor) next() byte {
	for len(d.rest) > 0 {
		switch c := d.rest[0]; c {
		case ' ', '\t', '\r', '\n':
			d.rest = d.rest[1:]
		default:
			return c
		}
	}
	return 0
}

// copyByte copies one byte.
func (d *compactor) copyByte() {
	d.b = append(d.b, d.rest[0])
	d.rest = d.rest[1:]
}

func (d *compactor) value(at position) {
	switch d.next() {
	case '{':
		d.object(at)
	case '[':
		d.list(at)
	case '"':
		d.copyString()
	default:
		d.copyLiteral()
	}
}

func (d *compactor) object(at position) {
	d.copyByte()
	for open := len(d.b); d.next() != '}' && len(d.rest) > 0; {
		start := len(d.b)
		if start > open {
			d.b = append(d.b, ',')
		}
		name := len(d.b)
		d.copyString()
		below := at.member(string(d.b[name:]))
		d.next()
		d.copyByte() // the colon
		d.value(below)
		if below == posDropped {
			d.b = d.b[:start]
		}
		d.skipComma()
	}
	if len(d.rest) > 0 {
		d.copyByte()
	}
}

func (d *compactor) list(at position) {
	d.copyByte()
	for open := len(d.b); d.next() != ']' && len(d.rest) > 0; {
		if len(d.b) > open {
			d.b = append(d.b, ',')
		}
		d.value(at.element())
		d.skipComma()
	}
	if len(d.rest) > 0 {
		d.copyByte()
	}
}

func (d *compactor) skipComma() {
	if d.next() == ',' {
		d.rest = d.rest[1:]
	}
}

// copyString copies a string, with its escapes as they are.
func (d *compactor) copyString() {
	end := 1
	for end < len(d.rest) && d.rest[end] != '"' {
		if d.rest[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(d.rest)-1)
	d.b = append(d.b, '"')
	d.copyStringBody(d.rest[1:end])
	d.b = append(d.b, '"')
	d.rest = d.rest[end+1:]
}

// copyStringBody copies the inside of a string. Its backslashes already escape.
func (d *compactor) copyStringBody(s []byte) {
	start := 0
	for i := 0; i < len(s); {
		if isPlain(s[i]) {
			i++
			continue
		}
		if s[i] == '\\' {
			i += 2
			continue
		}
		d.b = append(d.b, s[start:i]...)
		n := 1
		for i+n < len(s) && !isPlain(s[i+n]) && s[i+n] != '\\' {
			n++
		}
		d.b = appendStringBody(d.b, string(s[i:i+n]))
		i += n
		start = i
	}
	d.b = append(d.b, s[start:]...)
}

// copyLiteral copies a number, true, false or null.
func (d *compactor) copyLiteral() {
	for len(d.rest) > 0 {
		switch d.rest[0] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
		d.copyByte()
	}
}
