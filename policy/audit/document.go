package audit

// appendDocument appends a JSON document, which must be valid, without white space and with
// everything escaped that is not printable. If told so it leaves out the managed fields of the
// object that it is, of the items of a list and of the rows of a table.
func appendDocument(b, doc []byte, omitManagedFields bool) []byte {
	d := document{b: b, rest: doc}
	at := elsewhere
	if omitManagedFields {
		at = atObject
	}
	d.value(at)
	return d.b
}

// A document is copied piece by piece.
type document struct {
	b    []byte // what has been copied
	rest []byte // what has not
}

// A place is where in a document a value stands.
type place uint8

const (
	elsewhere place = iota
	atObject        // which has metadata, or items or rows
	atMetadata
	atObjects // a list of objects
	atRows    // a list of rows
	atRow
	dropped
)

// below is the place of a member.
func (p place) below(name string) place {
	switch {
	case p == atObject && name == `"metadata"`:
		return atMetadata
	case p == atObject && name == `"items"`:
		return atObjects
	case p == atObject && name == `"rows"`:
		return atRows
	case p == atRow && name == `"object"`:
		return atObject
	case p == atMetadata && name == `"managedFields"`:
		return dropped
	}
	return elsewhere
}

// element is the place of an element of a list.
func (p place) element() place {
	switch p {
	case atObjects:
		return atObject
	case atRows:
		return atRow
	}
	return elsewhere
}

// next is the next byte that is no white space; 0 at the end.
func (d *document) next() byte {
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

// take copies one byte.
func (d *document) take() {
	d.b = append(d.b, d.rest[0])
	d.rest = d.rest[1:]
}

func (d *document) value(at place) {
	switch d.next() {
	case '{':
		d.object(at)
	case '[':
		d.list(at)
	case '"':
		d.text()
	default:
		d.bare()
	}
}

func (d *document) object(at place) {
	d.take()
	for open := len(d.b); d.next() != '}' && len(d.rest) > 0; {
		start := len(d.b)
		if start > open {
			d.b = append(d.b, ',')
		}
		name := len(d.b)
		d.text()
		below := at.below(string(d.b[name:]))
		d.next()
		d.take() // the colon
		d.value(below)
		if below == dropped {
			d.b = d.b[:start]
		}
		d.skipComma()
	}
	if len(d.rest) > 0 {
		d.take()
	}
}

func (d *document) list(at place) {
	d.take()
	for open := len(d.b); d.next() != ']' && len(d.rest) > 0; {
		if len(d.b) > open {
			d.b = append(d.b, ',')
		}
		d.value(at.element())
		d.skipComma()
	}
	if len(d.rest) > 0 {
		d.take()
	}
}

func (d *document) skipComma() {
	if d.next() == ',' {
		d.rest = d.rest[1:]
	}
}

// text copies a string, with its escapes as they are.
func (d *document) text() {
	end := 1
	for end < len(d.rest) && d.rest[end] != '"' {
		if d.rest[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(d.rest)-1)
	d.b = append(d.b, '"')
	d.inner(d.rest[1:end])
	d.b = append(d.b, '"')
	d.rest = d.rest[end+1:]
}

// inner copies the inside of a string. Its backslashes already escape.
func (d *document) inner(s []byte) {
	start := 0
	for i := 0; i < len(s); {
		if plain(s[i]) {
			i++
			continue
		}
		if s[i] == '\\' {
			i += 2
			continue
		}
		d.b = append(d.b, s[start:i]...)
		n := 1
		for i+n < len(s) && !plain(s[i+n]) && s[i+n] != '\\' {
			n++
		}
		d.b = appendInner(d.b, string(s[i:i+n]))
		i += n
		start = i
	}
	d.b = append(d.b, s[start:]...)
}

// bare copies a number, true, false or null.
func (d *document) bare() {
	for len(d.rest) > 0 {
		switch d.rest[0] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
		d.take()
	}
}
