package jsontext

import (
	"bytes"
	"math/bits"
	"slices"
	"strconv"
)

// A Value is one JSON value, from its first byte to its last, inside JSON that is known to be well
// formed; nil is an absent one. What turns out to be cut short counts as absent.
type Value []byte

// Exists tells whether v is there and is not null.
func (v Value) Exists() bool { return len(v) > 0 && v[0] != 'n' }

// Field is the value of the first member of an object with that name. The name is compared as
// it is written: one that may need an escape has to be given as AppendEscaped writes it.
func (v Value) Field(name string) (found Value) {
	v.Fields(func(key, w Value) bool {
		if isName(key, name) {
			found = w
			return false
		}
		return true
	})
	return found
}

// isName tells whether a key, in its quotes, is that name.
func isName(key Value, name string) bool {
	return len(key) == len(name)+2 && string(key[1:len(key)-1]) == name
}

// At follows a dotted path through objects.
//
// For instance, At("status.phase"). It does not go into lists, and a name cannot contain a dot.
func (v Value) At(path string) Value {
	for path != "" && v != nil {
		name, rest := path, ""
		for i := 0; i < len(path); i++ {
			if path[i] == '.' {
				name, rest = path[:i], path[i+1:]
				break
			}
		}
		v, path = v.Field(name), rest
	}
	return v
}

// Fields calls yield with each key, in its quotes, and value of an object until that answers false.
//
// Key and value are parts of v. A member that is cut short ends the walk, and is not yielded.
func (v Value) Fields(yield func(key, w Value) bool) {
	for rest := v.inside(); ; {
		key, w, after := rest.cutMember()
		if w == nil || !yield(key, w) {
			return
		}
		rest = after
	}
}

// inside is what follows the bracket that opens an object; nil if v is none.
func (v Value) inside() Value {
	if len(v) == 0 || v[0] != '{' {
		return nil
	}
	return v[1:].trim()
}

// cutMember cuts off the member that v begins with. All three are nil if there is none, or if it is cut short.
func (v Value) cutMember() (key, w, rest Value) {
	if len(v) == 0 || v[0] != '"' {
		return nil, nil, nil
	}
	n := v.Length()
	key, rest = v[:n], v[n:].trim()
	if len(rest) == 0 || rest[0] != ':' {
		return nil, nil, nil
	}
	rest = rest[1:].trim()
	if n = rest.Length(); n == 0 {
		return nil, nil, nil
	}
	return key, rest[:n], rest[n:].next()
}

// Items calls yield with each item of a list until that answers false.
func (v Value) Items(yield func(w Value) bool) {
	if len(v) == 0 || v[0] != '[' {
		return
	}
	for rest := v[1:].trim(); len(rest) > 0 && rest[0] != ']'; {
		n := rest.Length()
		if n == 0 || !yield(rest[:n]) {
			return
		}
		rest = rest[n:].next()
	}
}

// next skips the comma after a value.
func (v Value) next() Value {
	if v = v.trim(); len(v) > 0 && v[0] == ',' {
		return v[1:].trim()
	}
	return nil
}

// trim skips white space.
func (v Value) trim() Value {
	for len(v) > 0 && (v[0] == ' ' || v[0] == '\n' || v[0] == '\t' || v[0] == '\r') {
		v = v[1:]
	}
	return v
}

// Length is how many bytes the value takes that v begins with; 0 if there is none or it is cut short.
// More may follow it.
//
// Of numbers and words it finds the end without reading them.
func (v Value) Length() int {
	if len(v) == 0 {
		return 0
	}
	switch v[0] {
	case '"':
		return v.stringLength()
	case '{', '[':
		return v.bracketLength()
	}
	for i, c := range v {
		switch c {
		case ',', ':', '}', ']', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return len(v)
}

// bracketLength counts the brackets that are in no string. That each one is closed by its own kind has been
// checked before.
//
// Most of a value is skipped eight bytes at a time: whether a byte is in a string is the parity of the
// quotes up to it. Only what holds a backslash, or the end, is looked at byte by byte.
func (v Value) bracketLength() int {
	text := Over(v).Text
	depth, inside := 0, uint64(0) // inside has the high bit of all bytes while a string is open
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			x := load8(text[i : i+8])
			lower := x | lowBits*0x20 // makes square brackets the curly ones, which nothing else becomes
			opening, closing := maskOnly(lower, '{'), maskOnly(lower, '}')
			quoted := maskOnly(x, '"')
			quoted ^= quoted << 8
			quoted ^= quoted << 16
			quoted ^= quoted<<32 ^ inside
			opening, closing = opening&^quoted, closing&^quoted
			if maskEqual(x, '\\') == 0 && bits.OnesCount64(closing) < depth {
				depth += bits.OnesCount64(opening) - bits.OnesCount64(closing)
				inside = uint64(int64(quoted)>>63) & highBits
				i += 8
				continue
			}
		}
		for end := min(i+8, len(text)); i < end; i++ {
			switch c := text[i]; {
			case c == '"':
				inside ^= highBits
			case inside != 0:
				if c == '\\' {
					i++ // what follows ends no string
				}
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	return 0
}

// stringLength is the length of a string with its quotes. A quote ends it unless the number of
// backslashes before the quote is odd.
func (v Value) stringLength() int {
	for i := 1; i < len(v); {
		n := bytes.IndexByte(v[i:], '"')
		if n < 0 {
			return 0
		}
		end := i + n
		slashes := 0
		for v[end-1-slashes] == '\\' {
			slashes++
		}
		if i = end + 1; slashes%2 == 0 {
			return i
		}
	}
	return 0
}

// Text is what a string says; "" if v is no string.
func (v Value) Text() string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	s := Over(v)
	text, err := s.ReadString()
	if err != nil {
		return ""
	}
	return text
}

// Int is a whole number; 0 if v is none that fits.
func (v Value) Int() int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// IsTrue tells whether v is true.
func (v Value) IsTrue() bool { return string(v) == "true" }

// Count is how many members or items v has.
func (v Value) Count() int {
	n := 0
	v.Fields(func(_, _ Value) bool { n++; return true })
	v.Items(func(Value) bool { n++; return true })
	return n
}

// Keys are the names of the members of an object, sorted.
func (v Value) Keys() (out []string) {
	v.Fields(func(key, _ Value) bool {
		out = append(out, key.Text())
		return true
	})
	slices.Sort(out)
	return out
}
