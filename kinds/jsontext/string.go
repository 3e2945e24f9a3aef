package jsontext

import (
	"math/bits"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Like encoding/json, it escapes the HTML characters <, >
// and &, and U+2028 and U+2029. Invalid UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	return append(AppendEscaped(append(b, '"'), s), '"')
}

// AppendEscaped appends s as the content of a JSON string, without the quotes.
func AppendEscaped(b []byte, s string) []byte {
	start := 0
	for i := SafeEnd(s, 0); i < len(s); i = SafeEnd(s, i) {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(append(b, s[start:i]...), `\ufffd`...)
				start = i + size
			case r == '\u2028' || r == '\u2029':
				b = append(append(b, s[start:i]...), `\u202`...)
				b = append(b, hexDigits[r&15])
				start = i + size
			}
			i += size
			continue
		}
		b = appendEscape(append(b, s[start:i]...), c)
		i++
		start = i
	}
	return append(b, s[start:]...)
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// SafeEnd returns the offset of the first byte of t at or after i that AppendEscaped may escape, or
// len(t).
func SafeEnd(t string, i int) int {
	for ; i+8 <= len(t); i += 8 {
		x := load8(t[i : i+8])
		found := maskControl(x) | maskEqual(x, '"') | maskEqual(x, '\\') | x&highBits |
			maskEqual(x, '<') | maskEqual(x, '>') | maskEqual(x, '&')
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(t); i++ {
		switch c := t[i]; {
		case c < ' ', c >= utf8.RuneSelf, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return i
		}
	}
	return i
}

// plainEnd returns the offset of the first byte at or after i that cannot be copied unchanged from
// a JSON string, or len(t): a quote, a backslash, a control character or a non-ASCII byte.
func plainEnd(t string, i int) int {
	for ; i+8 <= len(t); i += 8 {
		x := load8(t[i : i+8])
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

// The functions above test eight bytes at a time, because decoding would otherwise spend most of
// its time on single bytes. In the masks below, each matching byte has its high bit set. After the
// first match, a mask may have false positives.

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// load8 returns eight bytes as a little-endian number. It compiles to one load.
func load8(w string) uint64 {
	_ = w[7]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}

// maskControl marks the bytes of x below 0x20.
func maskControl(x uint64) uint64 { return (x - lowBits*' ') & ^x & highBits }

// maskEqual marks the bytes of x equal to c.
func maskEqual(x uint64, c byte) uint64 {
	y := x ^ lowBits*uint64(c)
	return (y - lowBits) & ^y & highBits
}

// maskOnly is maskEqual without false positives, so that matches can be counted.
func maskOnly(x uint64, c byte) uint64 {
	y := x ^ lowBits*uint64(c)
	return ^((y&^highBits + ^uint64(highBits)) | y) & highBits
}
