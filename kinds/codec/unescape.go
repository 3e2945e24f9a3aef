package codec

import (
	"unicode/utf16"
	"unicode/utf8"
)

// strWithEscapes reads the rest of a string from i on, where the first byte is that
// cannot be taken as it is.
func (s *scanner) strWithEscapes(start, i int) (string, error) {
	b := append(make([]byte, 0, i-start+32), s.text[start:i]...)
	for s.pos = i; s.pos < len(s.text); {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return string(b), nil
		case c == '\\':
			s.pos++
			var err error
			if b, err = s.escape(b); err != nil {
				return "", err
			}
		case c < ' ':
			return "", s.unexpected("in string literal")
		case c < utf8.RuneSelf:
			end := plainEnd(s.text, s.pos)
			b = append(b, s.text[s.pos:end]...)
			s.pos = end
		default:
			r, size := utf8.DecodeRuneInString(s.text[s.pos:])
			b = utf8.AppendRune(b, r)
			s.pos += size
		}
	}
	return "", errEnd
}

// escape appends what the escape stands for, whose backslash has been consumed.
func (s *scanner) escape(b []byte) ([]byte, error) {
	c := s.at()
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
		return b, s.unexpected("in string escape code")
	}
	s.pos++
	return append(b, c), nil
}

// unicodeEscape appends the character of \uXXXX, or of two that form a pair. Half a pair
// becomes U+FFFD.
func (s *scanner) unicodeEscape(b []byte) ([]byte, error) {
	r, err := s.hex4()
	if err != nil {
		return b, err
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(b, r), nil
	}
	if s.at() == '\\' && s.pos+1 < len(s.text) && s.text[s.pos+1] == 'u' {
		back := s.pos
		s.pos++
		low, err := s.hex4()
		if err != nil {
			return b, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(b, pair), nil
		}
		s.pos = back
	}
	return utf8.AppendRune(b, utf8.RuneError), nil
}

// hex4 reads the four digits behind the u that is at hand.
func (s *scanner) hex4() (rune, error) {
	s.pos++
	var r rune
	for range 4 {
		c := s.at()
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, s.unexpected(`in \u hexadecimal character escape`)
		}
		r = r<<4 | rune(c)
		s.pos++
	}
	return r, nil
}
