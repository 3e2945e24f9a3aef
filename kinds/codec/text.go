package codec

import (
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string, escaped as package doc says.
func appendString(b []byte, s string) []byte {
	return append(AppendEscaped(append(b, '"'), s), '"')
}

// AppendEscaped appends what stands for s between the quotes of a JSON string.
func AppendEscaped(b []byte, s string) []byte {
	start := 0
	for i := safeEnd(s, 0); i < len(s); i = safeEnd(s, i) {
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

// safeEnd is the offset from i on of the first byte that may not be written as it is.
func safeEnd(t string, i int) int {
	for ; i+8 <= len(t); i += 8 {
		w := t[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
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

// appendFloat writes a number as Go's encoder does, but for the zero below zero: who reads its
// text finds an integer, which has only one. What JSON cannot hold becomes null.
func appendFloat(b []byte, n float64) []byte {
	if n == 0 {
		return append(b, '0')
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return append(b, "null"...)
	}
	abs := math.Abs(n)
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, n, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, n, 'e', -1, 64)
	if end := len(b); b[end-4] == 'e' && b[end-3] == '-' && b[end-2] == '0' {
		b[end-2] = b[end-1] // e-09 becomes e-9
		b = b[:end-1]
	}
	return b
}
