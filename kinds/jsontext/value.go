package jsontext

import (
	"bytes"
	"math/bits"
	"slices"
	"strconv"
)

// A Value is one JSON value in a well-formed document. An absent or truncated value is nil.
type Value []byte

// Exists reports whether v is present and not null.
func (v Value) Exists() bool { return len(v) > 0 && v[0] != 'n' }

// Field returns the first member of an object with that name, or nil. Names are compared as
// written, so name must be escaped as AppendEscaped does.
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

func isName(key Value, name string) bool {
	return len(key) == len(name)+2 && string(key[1:len(key)-1]) == name
}

// At follows a dotted path through objects, such as "status.phase", or returns nil. A path cannot
// lead through lists or names with dots.
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

// Fields calls yield with each quoted key and value of an object until yield returns false. Both
// share the memory of v. A truncated member ends the walk.
func (v Value) Fields(yield func(key, w Value) bool) {
	for rest := v.inside(); ; {
		key, w, after := rest.cutMember()
		if w == nil || !yield(key, w) {
			return
		}
		rest = after
	}
}

func (v Value) inside() Value {
	if len(v) == 0 || v[0] != '{' {
		return nil
	}
	return v[1:].trim()
}

// cutMember cuts off the first member of v. All results are nil if it is missing or truncated.
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

// Items calls yield with each item of a list until yield returns false.
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

func (v Value) next() Value {
	if v = v.trim(); len(v) > 0 && v[0] == ',' {
		return v[1:].trim()
	}
	return nil
}

func (v Value) trim() Value {
	for len(v) > 0 && (v[0] == ' ' || v[0] == '\n' || v[0] == '\t' || v[0] == '\r') {
		v = v[1:]
	}
	return v
}

// Length returns the length in bytes of the value at the start of v, or 0 if it is missing or
// truncated. It finds the end of numbers and literals without parsing them.
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

// bracketLength returns the length of an object or list. It processes eight bytes at a time and
// only counts brackets outside strings, because the nesting has already been checked. The parity of
// quotes shows whether a byte is in a string. Chunks with a backslash or the end of the value are
// examined byte by byte.
func (v Value) bracketLength() int {
	text := Over(v).Text
	depth, inside := 0, uint64(0) // inside has the high bit of all bytes set while a string is open
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			x := load8(text[i : i+8])
			lower := x | lowBits*0x20 // turns square brackets into braces; no other byte becomes one
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
					i++ // the next byte does not end the string
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

// stringLength returns the length of a string including its quotes. A quote ends the string unless
// an odd number of backslashes precedes it.
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

// Text returns the content of a string, or "" for other values.
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

// Int returns an integer, or 0 for other values and on overflow.
func (v Value) Int() int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// IsTrue reports whether v is the literal true.
func (v Value) IsTrue() bool { return string(v) == "true" }

// Count returns the number of members of an object, or the number of items of a list.
func (v Value) Count() int {
	n := 0
	v.Fields(func(_, _ Value) bool { n++; return true })
	v.Items(func(Value) bool { n++; return true })
	return n
}

// Keys returns the sorted names of an object's members.
func (v Value) Keys() (out []string) {
	v.Fields(func(key, _ Value) bool {
		out = append(out, key.Text())
		return true
	})
	slices.Sort(out)
	return out
}
