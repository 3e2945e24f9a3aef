package jsontext

import (
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// A SyntaxError reports malformed JSON. Its message matches encoding/json's, except that a
// truncated number, literal or escape always yields ErrEnd.
type SyntaxError string

func (e SyntaxError) Error() string { return string(e) }

// Scanner errors for truncated or too deeply nested JSON.
const (
	ErrEnd   = SyntaxError("unexpected end of JSON input")
	ErrDepth = SyntaxError("exceeded max depth")
)

// A Scanner reads the tokens of a JSON document. Its methods consume the tokens that they return. A
// Scanner must not be used after an error.
//
// Read an object as follows, and a list with Element:
//
//	if s.Peek() == '{' {
//		err := s.Open()
//		for first := true; ; first = false {
//			key, more, err := s.Key(first) // more is false after the closing bracket
//			…                             // consume the value: s.ReadString(), s.Skip(), …
//		}
//	}
type Scanner struct {
	Text  string
	Pos   int // offset of the next byte
	Depth int // number of open objects and lists; starts above 0 for nested documents
	Limit int // limit of Depth, if above MaxDepth
}

// Over returns a Scanner for json, whose bytes must not change while the Scanner or a returned
// string is in use.
func Over(json []byte) Scanner {
	return Scanner{Text: unsafe.String(unsafe.SliceData(json), len(json))}
}

// Valid reports whether json is one JSON value that nests at most MaxStoredDepth levels.
func Valid(json []byte) bool {
	s := Over(json)
	s.Limit = MaxStoredDepth
	return s.Skip() == nil && s.End() == nil
}

// Peek skips white space and returns the next byte without consuming it. It returns 0 at the end.
func (s *Scanner) Peek() byte {
	for s.Pos < len(s.Text) {
		switch c := s.Text[s.Pos]; c {
		case ' ', '\n', '\r', '\t':
			s.Pos++
		default:
			return c
		}
	}
	return 0
}

// Unexpected returns the error for the next byte. where describes the context.
func (s *Scanner) Unexpected(where string) error {
	if s.Pos >= len(s.Text) {
		return ErrEnd
	}
	return SyntaxError("invalid character " + quoteByte(s.Text[s.Pos]) + " " + where)
}

// quoteByte formats a byte as encoding/json does in errors.
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

// End returns an error if anything but white space follows.
func (s *Scanner) End() error {
	if s.Peek(); s.Pos < len(s.Text) {
		return s.Unexpected("after top-level value")
	}
	return nil
}

// Open consumes the opening bracket of an object or list, which the caller has already peeked.
// Key or Element decrements Depth at the closing bracket.
func (s *Scanner) Open() error {
	s.Pos++
	if s.Depth++; s.Depth > MaxDepth && s.Depth > s.Limit {
		return ErrDepth
	}
	return nil
}

func (s *Scanner) close() {
	s.Pos++
	s.Depth--
}

// Key reads an object's next key and its colon. At the end of the object, it consumes the bracket
// and more is false. first must be true for the first key, which has no comma before it.
func (s *Scanner) Key(first bool) (key string, more bool, err error) {
	if more, err = s.toKey(first); !more {
		return "", false, err
	}
	if key, err = s.ReadString(); err != nil {
		return "", false, err
	}
	if err = s.colon(); err != nil {
		return "", false, err
	}
	return key, true, nil
}

// RawKey is Key without unescaping. The key includes its quotes.
func (s *Scanner) RawKey(first bool) (key string, more bool, err error) {
	if more, err = s.toKey(first); !more {
		return "", false, err
	}
	start := s.Pos
	if err = s.SkipString(); err != nil {
		return "", false, err
	}
	key = s.Text[start:s.Pos]
	return key, true, s.colon()
}

// toKey advances to the next key. more is false at the end of the object and for errors.
func (s *Scanner) toKey(first bool) (more bool, err error) {
	c := s.Peek()
	if c == '}' {
		s.close()
		return false, nil
	}
	if !first {
		if c != ',' {
			return false, s.Unexpected("after object key:value pair")
		}
		s.Pos++
		c = s.Peek()
	}
	if c != '"' {
		return false, s.Unexpected("looking for beginning of object key string")
	}
	return true, nil
}

func (s *Scanner) colon() error {
	if s.Peek() != ':' {
		return s.Unexpected("after object key")
	}
	s.Pos++
	return nil
}

// Element advances to the next element of a list. At the end of the list, it consumes the bracket
// and more is false.
func (s *Scanner) Element(first bool) (more bool, err error) {
	c := s.Peek()
	if c == ']' {
		s.close()
		return false, nil
	}
	if first {
		return true, nil
	}
	if c != ',' {
		return false, s.Unexpected("after array element")
	}
	s.Pos++
	return true, nil
}

// ReadString reads a string whose opening quote is the next byte. The result shares the memory of
// Text unless the string has escapes or invalid UTF-8.
func (s *Scanner) ReadString() (string, error) {
	start := s.Pos + 1
	i := plainEnd(s.Text, start)
	for i < len(s.Text) {
		c := s.Text[i]
		switch {
		case c == '"':
			s.Pos = i + 1
			return s.Text[start:i], nil
		case c < utf8.RuneSelf:
			return s.readEscaped(start, i)
		}
		r, size := utf8.DecodeRuneInString(s.Text[i:])
		if r == utf8.RuneError && size == 1 {
			return s.readEscaped(start, i)
		}
		i += size
		if i < len(s.Text) && s.Text[i] < utf8.RuneSelf {
			i = plainEnd(s.Text, i)
		}
	}
	s.Pos = len(s.Text)
	return "", ErrEnd
}

// Literal consumes true, false or null, given as word. The caller has seen the first letter.
func (s *Scanner) Literal(word string) error {
	for i := 1; i < len(word); i++ {
		s.Pos++
		if s.Pos >= len(s.Text) || s.Text[s.Pos] != word[i] {
			return s.Unexpected("in literal " + word + " (expecting " + quoteByte(word[i]) + ")")
		}
	}
	s.Pos++
	return nil
}

// ReadNumber consumes a number and returns it as written. It does not check the range, because
// 1e400 is valid JSON.
func (s *Scanner) ReadNumber() (string, error) {
	start := s.Pos
	if s.Text[s.Pos] == '-' {
		s.Pos++
	}
	switch c := s.Current(); {
	case c == '0':
		s.Pos++
	case IsDigit(c):
		s.digits()
	default:
		return "", s.Unexpected("in numeric literal")
	}
	if s.Current() == '.' {
		s.Pos++
		if !IsDigit(s.Current()) {
			return "", s.Unexpected("after decimal point in numeric literal")
		}
		s.digits()
	}
	if c := s.Current(); c == 'e' || c == 'E' {
		s.Pos++
		if c := s.Current(); c == '+' || c == '-' {
			s.Pos++
		}
		if !IsDigit(s.Current()) {
			return "", s.Unexpected("in exponent of numeric literal")
		}
		s.digits()
	}
	return s.Text[start:s.Pos], nil
}

// Current returns the next byte without skipping white space, or 0 at the end.
func (s *Scanner) Current() byte {
	if s.Pos < len(s.Text) {
		return s.Text[s.Pos]
	}
	return 0
}

func (s *Scanner) digits() {
	for IsDigit(s.Current()) {
		s.Pos++
	}
}

func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// Skip consumes a value of any type.
func (s *Scanner) Skip() error {
	switch c := s.Peek(); {
	case c == '"':
		return s.SkipString()
	case c == '{':
		return s.skipObject()
	case c == '[':
		return s.skipList()
	case c == 't':
		return s.Literal("true")
	case c == 'f':
		return s.Literal("false")
	case c == 'n':
		return s.Literal("null")
	case c == '-' || IsDigit(c):
		_, err := s.ReadNumber()
		return err
	}
	return s.Unexpected("looking for beginning of value")
}

// SkipString consumes and checks a string whose opening quote is the next byte.
func (s *Scanner) SkipString() error {
	var scratch [8]byte
	for s.Pos++; ; {
		s.Pos = plainEnd(s.Text, s.Pos)
		switch c := s.Current(); {
		case s.Pos >= len(s.Text):
			return ErrEnd
		case c == '"':
			s.Pos++
			return nil
		case c == '\\':
			s.Pos++
			if _, err := s.escape(scratch[:0]); err != nil {
				return err
			}
		case c < ' ':
			return s.Unexpected("in string literal")
		default:
			s.Pos++
		}
	}
}

// skipObject consumes an object. It recurses through Skip once per level, so the depth limit also
// bounds the stack.
func (s *Scanner) skipObject() error {
	if err := s.Open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		_, more, err := s.RawKey(first)
		if err != nil || !more {
			return err
		}
		if err := s.Skip(); err != nil {
			return err
		}
	}
}

func (s *Scanner) skipList() error {
	if err := s.Open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.Element(first)
		if err != nil || !more {
			return err
		}
		if err := s.Skip(); err != nil {
			return err
		}
	}
}
