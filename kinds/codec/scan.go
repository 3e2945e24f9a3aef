package codec

import (
	"math/bits"
	"strconv"
	"unicode/utf8"
)

const (
	// MaxDepth bounds how deeply the objects and lists of anything that comes in may nest, in
	// every format.
	MaxDepth = 256
	// maxStoredDepth is the same for what is stored: earlier servers have let in as much.
	maxStoredDepth = 10_000
)

const (
	errEnd   = syntaxError("unexpected end of JSON input")
	errDepth = syntaxError("exceeded max depth")
)

// A scanner reads the tokens of a JSON text. Its methods consume what they return.
type scanner struct {
	text   string
	pos    int
	depth  int
	stored bool // the text was let in already
}

// peek skips white space and returns the byte at hand, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ', '\n', '\r', '\t':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// unexpected is the error for the byte at hand; where says what was looked for.
func (s *scanner) unexpected(where string) error {
	if s.pos >= len(s.text) {
		return errEnd
	}
	return syntaxError("invalid character " + quoteByte(s.text[s.pos]) + " " + where)
}

// quoteByte writes a byte as Go's decoder shows it.
func quoteByte(c byte) string {
	switch c {
	case '\'':
		return `'\''`
	case '"':
		return `'"'`
	}
	q := strconv.Quote(string(rune(c)))
	return "'" + q[1:len(q)-1] + "'"
}

// end checks that only white space follows.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.text) {
		return s.unexpected("after top-level value")
	}
	return nil
}

// open consumes the bracket that begins an object or a list.
func (s *scanner) open() error {
	s.pos++
	if s.depth++; s.depth > MaxDepth && (!s.stored || s.depth > maxStoredDepth) {
		return errDepth
	}
	return nil
}

// close consumes the bracket that ends an object or a list.
func (s *scanner) close() {
	s.pos++
	s.depth--
}

// key goes on to the next key of an object, and over its colon. more is false at the
// end of the object, which is consumed.
func (s *scanner) key(first bool) (key string, more bool, err error) {
	if more, err = s.toKey(first); !more {
		return "", false, err
	}
	if key, err = s.str(); err != nil {
		return "", false, err
	}
	if err = s.colon(); err != nil {
		return "", false, err
	}
	return key, true, nil
}

// toKey goes on to the next key of an object; more is false at the end, and for an error.
func (s *scanner) toKey(first bool) (more bool, err error) {
	c := s.peek()
	if c == '}' {
		s.close()
		return false, nil
	}
	if !first {
		if c != ',' {
			return false, s.unexpected("after object key:value pair")
		}
		s.pos++
		c = s.peek()
	}
	if c != '"' {
		return false, s.unexpected("looking for beginning of object key string")
	}
	return true, nil
}

func (s *scanner) colon() error {
	if s.peek() != ':' {
		return s.unexpected("after object key")
	}
	s.pos++
	return nil
}

// element goes on to the next element of a list. more is false at the end of the list,
// which is consumed.
func (s *scanner) element(first bool) (more bool, err error) {
	c := s.peek()
	if c == ']' {
		s.close()
		return false, nil
	}
	if first {
		return true, nil
	}
	if c != ',' {
		return false, s.unexpected("after array element")
	}
	s.pos++
	return true, nil
}

// str reads a string; the byte at hand is its opening quote. The result shares the text
// unless an escape or invalid UTF-8 makes it differ.
func (s *scanner) str() (string, error) {
	start := s.pos + 1
	i := plainEnd(s.text, start)
	for i < len(s.text) {
		c := s.text[i]
		switch {
		case c == '"':
			s.pos = i + 1
			return s.text[start:i], nil
		case c < utf8.RuneSelf:
			return s.strWithEscapes(start, i)
		}
		r, size := utf8.DecodeRuneInString(s.text[i:])
		if r == utf8.RuneError && size == 1 {
			return s.strWithEscapes(start, i)
		}
		i += size
		if i < len(s.text) && s.text[i] < utf8.RuneSelf {
			i = plainEnd(s.text, i)
		}
	}
	s.pos = len(s.text)
	return "", errEnd
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainEnd is the offset from i on of the first byte that is a quote, a backslash, a
// control character or not ASCII; len(t) if there is none.
func plainEnd(t string, i int) int {
	for ; i+8 <= len(t); i += 8 {
		w := t[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		if found := maskControl(x) | maskEqual(x, '"') | maskEqual(x, '\\') | x&highBits; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(t); i++ {
		if c := t[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// maskControl marks, up to the first hit, the bytes of x below 0x20 by their high bit.
func maskControl(x uint64) uint64 { return (x - lowBits*' ') & ^x & highBits }

// maskEqual marks, up to the first hit, the bytes of x that are c by their high bit.
func maskEqual(x uint64, c byte) uint64 {
	y := x ^ lowBits*uint64(c)
	return (y - lowBits) & ^y & highBits
}

// literal consumes true, false or null.
func (s *scanner) literal(word string) error {
	for i := 1; i < len(word); i++ {
		s.pos++
		if s.pos >= len(s.text) || s.text[s.pos] != word[i] {
			return s.unexpected("in literal " + word + " (expecting " + quoteByte(word[i]) + ")")
		}
	}
	s.pos++
	return nil
}

// number consumes a number and returns it as written.
func (s *scanner) number() (string, error) {
	start := s.pos
	if s.text[s.pos] == '-' {
		s.pos++
	}
	switch c := s.at(); {
	case c == '0':
		s.pos++
	case isDigit(c):
		s.digits()
	default:
		return "", s.unexpected("in numeric literal")
	}
	if s.at() == '.' {
		s.pos++
		if !isDigit(s.at()) {
			return "", s.unexpected("after decimal point in numeric literal")
		}
		s.digits()
	}
	if c := s.at(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.at(); c == '+' || c == '-' {
			s.pos++
		}
		if !isDigit(s.at()) {
			return "", s.unexpected("in exponent of numeric literal")
		}
		s.digits()
	}
	return s.text[start:s.pos], nil
}

// at is the byte at hand, white space or not; 0 at the end.
func (s *scanner) at() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) digits() {
	for isDigit(s.at()) {
		s.pos++
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// skip consumes one value of any type.
func (s *scanner) skip() error {
	switch c := s.peek(); {
	case c == '"':
		return s.skipStr()
	case c == '{':
		return s.skipObject()
	case c == '[':
		return s.skipList()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	case c == '-' || isDigit(c):
		_, err := s.number()
		return err
	}
	return s.unexpected("looking for beginning of value")
}

func (s *scanner) skipStr() error {
	var scratch [8]byte
	for s.pos++; ; {
		s.pos = plainEnd(s.text, s.pos)
		switch c := s.at(); {
		case s.pos >= len(s.text):
			return errEnd
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			s.pos++
			if _, err := s.escape(scratch[:0]); err != nil {
				return err
			}
		case c < ' ':
			return s.unexpected("in string literal")
		default:
			s.pos++
		}
	}
}

func (s *scanner) skipObject() error {
	if err := s.open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.toKey(first)
		if err != nil || !more {
			return err
		}
		if err := s.skipStr(); err != nil {
			return err
		}
		if err := s.colon(); err != nil {
			return err
		}
		if err := s.skip(); err != nil {
			return err
		}
	}
}

func (s *scanner) skipList() error {
	if err := s.open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.element(first)
		if err != nil || !more {
			return err
		}
		if err := s.skip(); err != nil {
			return err
		}
	}
}
