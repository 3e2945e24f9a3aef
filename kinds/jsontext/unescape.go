package jsontext

import (
	"unicode/utf16"
	"unicode/utf8"
)

// readEscaped reads a string that contains escapes or invalid UTF-8. i is the offset of the first
// such byte. Short strings are built on the stack and need only one allocation.
func (s *Scanner) readEscaped(start, i int) (string, error) {
	var short [128]byte // enough for most strings with escapes, such as keys of managed fields
	b := append(short[:0], s.Text[start:i]...)
	for s.Pos = i; s.Pos < len(s.Text); {
		switch c := s.Text[s.Pos]; {
		case c == '"':
			s.Pos++
			return string(b), nil
		case c == '\\':
			s.Pos++
			var err error
			if b, err = s.escape(b); err != nil {
				return "", err
			}
		case c < ' ':
			return "", s.Unexpected("in string literal")
		case c < utf8.RuneSelf:
			end := plainEnd(s.Text, s.Pos)
			b = append(b, s.Text[s.Pos:end]...)
			s.Pos = end
		default:
			r, size := utf8.DecodeRuneInString(s.Text[s.Pos:])
			b = utf8.AppendRune(b, r)
			s.Pos += size
		}
	}
	return "", ErrEnd
}

// escape appends the character of an escape, whose backslash has been consumed.
func (s *Scanner) escape(b []byte) ([]byte, error) {
	c := s.Current()
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.unicodeEscape(b)
	default:
		return b, s.Unexpected("in string escape code")
	}
	s.Pos++
	return append(b, c), nil
}

// unicodeEscape appends the character of \uXXXX or of a surrogate pair. Like encoding/json, it
// replaces an unpaired surrogate with U+FFFD and reads the next escape separately.
func (s *Scanner) unicodeEscape(b []byte) ([]byte, error) {
	r, err := s.hex4()
	if err != nil {
		return b, err
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(b, r), nil
	}
	if s.Current() == '\\' && s.Pos+1 < len(s.Text) && s.Text[s.Pos+1] == 'u' {
		back := s.Pos
		s.Pos++
		low, err := s.hex4()
		if err != nil {
			return b, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(b, pair), nil
		}
		s.Pos = back
	}
	return utf8.AppendRune(b, utf8.RuneError), nil
}

func (s *Scanner) hex4() (rune, error) {
	s.Pos++
	var r rune
	for range 4 {
		c := s.Current()
		switch {
		case IsDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, s.Unexpected(`in \u hexadecimal character escape`)
		}
		r = r<<4 | rune(c)
		s.Pos++
	}
	return r, nil
}
