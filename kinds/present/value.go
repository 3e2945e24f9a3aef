package present

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// A value is one JSON value inside stored bytes; nil is an absent one. Stored bytes are
// known to be well formed; should they not be, whatever is cut short counts as absent.
type value []byte

// exists reports whether v is there and is not null.
func (v value) exists() bool { return len(v) > 0 && v[0] != 'n' }

// field is the field of an object with that name.
func (v value) field(name string) (found value) {
	v.fields(func(key, w value) bool {
		if len(key) == len(name)+2 && string(key[1:len(key)-1]) == name {
			found = w
			return false
		}
		return true
	})
	return found
}

// at follows a dotted path through objects.
func (v value) at(path string) value {
	for path != "" && v != nil {
		name, rest := path, ""
		for i := 0; i < len(path); i++ {
			if path[i] == '.' {
				name, rest = path[:i], path[i+1:]
				break
			}
		}
		v, path = v.field(name), rest
	}
	return v
}

// fields calls do with each key (still quoted) and value of an object until it says no.
func (v value) fields(do func(key, w value) bool) {
	if len(v) == 0 || v[0] != '{' {
		return
	}
	for rest := v[1:].trim(); len(rest) > 0 && rest[0] == '"'; {
		n := rest.length()
		key := rest[:n]
		rest = rest[n:].trim()
		if len(rest) == 0 || rest[0] != ':' {
			return
		}
		rest = rest[1:].trim()
		n = rest.length()
		if n == 0 || !do(key, rest[:n]) {
			return
		}
		rest = rest[n:].next()
	}
}

// items calls do with each item of a list until it says no.
func (v value) items(do func(w value) bool) {
	if len(v) == 0 || v[0] != '[' {
		return
	}
	for rest := v[1:].trim(); len(rest) > 0 && rest[0] != ']'; {
		n := rest.length()
		if n == 0 || !do(rest[:n]) {
			return
		}
		rest = rest[n:].next()
	}
}

// next skips the comma after a value.
func (v value) next() value {
	if v = v.trim(); len(v) > 0 && v[0] == ',' {
		return v[1:].trim()
	}
	return nil
}

func (v value) trim() value {
	for len(v) > 0 && (v[0] == ' ' || v[0] == '\n' || v[0] == '\t' || v[0] == '\r') {
		v = v[1:]
	}
	return v
}

// length is how many bytes the value at the beginning of v takes; 0 if it is cut short.
func (v value) length() int {
	depth := 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			n := v[i:].quoted()
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			if depth > 0 || i+1 < len(v) && !endsToken(v[i+1]) {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return 0
}

// endsToken reports whether c cannot be part of a number or a word.
func endsToken(c byte) bool {
	switch c {
	case ',', ':', '}', ']', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// quoted is the length of the text at the beginning of v, with its quotes.
func (v value) quoted() int {
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

// text is a JSON text without its quotes; "" if v is none.
func (v value) text() string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// number is a JSON whole number; 0 if v is none.
func (v value) number() int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// isTrue reports whether v is true.
func (v value) isTrue() bool { return string(v) == "true" }

// count is how many fields or items v has.
func (v value) count() int {
	n := 0
	v.fields(func(_, _ value) bool { n++; return true })
	v.items(func(value) bool { n++; return true })
	return n
}

// keys are the names of the fields of an object, sorted.
func (v value) keys() (out []string) {
	v.fields(func(key, _ value) bool {
		out = append(out, key.text())
		return true
	})
	slices.Sort(out)
	return out
}

// appendText writes s as JSON text.
func appendText(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil { // texts always marshal
				quoted = []byte(`""`)
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
