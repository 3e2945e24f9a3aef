package audit

import "github.com/troupe-api/troupe/kinds/jsontext"

// appendCompactJSON appends a JSON document without white space and with everything escaped that is not
// printable. If told so it leaves out the managed fields of the object that it is, of the items of a
// list and of the rows of a table. What is not JSON becomes null: whatever a body holds, an Event stays
// one line of JSON.
//
// It works on the text and builds no tree: bodies may have megabytes, and all that changes is white space, escapes
// and the managed fields.
//
// Example: { "a" : "ü" } becomes {"a":"ü"}; a line separator inside a string becomes its escape.
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

// A compactor copies a document token by token.
//
// The copy may be longer than the text, as an escape takes up to six bytes for one.
type compactor struct {
	jsontext.Scanner
	b []byte // the copy
}

// A position says what a value is in its document, as far as that decides what is left out of it.
//
// Managed fields are dropped by place and not by name alone: a ConfigMap may have a key that is called managedFields.
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

// member is the position of a member, whose name is in quotes.
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

// element is the position of an element of a list.
func (p position) element() position {
	switch p {
	case posObjectList:
		return posObject
	case posRowList:
		return posRow
	}
	return posOther
}

// value copies a value, or skips it.
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

// The comma is written by whether anything was copied before, since the first members may have been dropped.
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

// appendEscaped copies a string in its quotes. What is escaped already stays as it is.
//
// A run of characters that are not plain is escaped as a whole, because they may be the bytes of one character.
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
