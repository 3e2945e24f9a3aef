package audit

import "github.com/troupe-api/troupe/kinds/jsontext"

// appendCompactJSON appends a JSON document without white space and escapes unprintable characters.
// { "a" : "ü" } becomes {"a":"ü"}. Invalid JSON becomes null, so that an Event stays one line of
// JSON. It builds no tree, because bodies may be large.
//
// omitManagedFields removes the managed fields of the object, or of the objects in a list or table.
func appendCompactJSON(b, doc []byte, omitManagedFields bool) []byte {
	c := compactor{Scanner: jsontext.Over(doc), b: b}
	c.Limit = jsontext.MaxStoredDepth
	at := posOther
	if omitManagedFields {
		at = posObject
	}
	err := c.value(at)
	if err == nil {
		err = c.End()
	}
	if err != nil {
		return append(c.b[:len(b)], "null"...)
	}
	return c.b
}

// A compactor copies a document token by token. Escape sequences may make the copy longer.
type compactor struct {
	jsontext.Scanner
	b []byte // the copy
}

// A position is the role of a value in its document. Managed fields are removed by position,
// because a ConfigMap may contain a key named managedFields.
type position uint8

const (
	posOther  position = iota
	posObject          // has metadata, items or rows
	posMetadata
	posObjectList // list of objects
	posRowList    // list of rows
	posRow
	posDropped
)

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

func (p position) element() position {
	switch p {
	case posObjectList:
		return posObject
	case posRowList:
		return posRow
	}
	return posOther
}

func (c *compactor) value(at position) error {
	first := c.Peek()
	if at == posDropped {
		return c.Skip()
	}
	switch first {
	case '{':
		return c.object(at)
	case '[':
		return c.list(at)
	}
	start := c.Pos
	if err := c.Skip(); err != nil {
		return err
	}
	if text := c.Text[start:c.Pos]; first == '"' {
		c.appendEscaped(text)
	} else {
		c.b = append(c.b, text...)
	}
	return nil
}

// object copies a JSON object without its dropped members. The first members may be dropped, so it
// writes a comma only if the copy already has a member.
func (c *compactor) object(at position) error {
	if err := c.Open(); err != nil {
		return err
	}
	c.b = append(c.b, '{')
	open := len(c.b)
	for first := true; ; first = false {
		name, more, err := c.RawKey(first)
		if err != nil {
			return err
		}
		if !more {
			c.b = append(c.b, '}')
			return nil
		}
		below := at.member(name)
		if below != posDropped {
			if len(c.b) > open {
				c.b = append(c.b, ',')
			}
			c.appendEscaped(name)
			c.b = append(c.b, ':')
		}
		if err := c.value(below); err != nil {
			return err
		}
	}
}

func (c *compactor) list(at position) error {
	if err := c.Open(); err != nil {
		return err
	}
	c.b = append(c.b, '[')
	for first := true; ; first = false {
		more, err := c.Element(first)
		if err != nil {
			return err
		}
		if !more {
			c.b = append(c.b, ']')
			return nil
		}
		if !first {
			c.b = append(c.b, ',')
		}
		if err := c.value(at.element()); err != nil {
			return err
		}
	}
}

// appendEscaped copies a quoted string and keeps existing escape sequences. It escapes adjacent
// special bytes together, because they may encode one character.
func (c *compactor) appendEscaped(quoted string) {
	c.b = append(c.b, '"')
	s, start := quoted[1:len(quoted)-1], 0
	for i := 0; i < len(s); {
		if isPlain(s[i]) {
			i++
			continue
		}
		if s[i] == '\\' {
			i += 2
			continue
		}
		c.b = append(c.b, s[start:i]...)
		n := 1
		for i+n < len(s) && !isPlain(s[i+n]) && s[i+n] != '\\' {
			n++
		}
		c.b = appendStringBody(c.b, s[i:i+n])
		i += n
		start = i
	}
	c.b = append(append(c.b, s[start:]...), '"')
}
