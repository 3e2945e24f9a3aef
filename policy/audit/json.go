package audit

import (
	"strconv"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
)

func isPlain(c byte) bool { return plainBytes[c] }

var plainBytes = func() (table [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// appendString appends s as a JSON string. It escapes unprintable characters and replaces invalid
// UTF-8.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	b = appendStringBody(b, s)
	return append(b, '"')
}

// appendStringBody appends s without quotes. It copies each run of plain bytes in one step, because
// most text is plain.
func appendStringBody(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if isPlain(c) {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		if c == '"' || c == '\\' {
			b = append(b, '\\', c)
			i++
		} else {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError {
				b = appendEscape(b, r)
			} else {
				b = appendRune(b, r)
			}
			i += size
		}
		start = i
	}
	return append(b, s[start:]...)
}

func appendRune(b []byte, r rune) []byte {
	if unicode.IsPrint(r) {
		return utf8.AppendRune(b, r)
	}
	if r > 0xffff {
		r -= 0x10000
		return appendEscape(appendEscape(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return appendEscape(b, r)
}

const digits = "0123456789abcdef"

func appendEscape(b []byte, unit rune) []byte {
	return append(b, '\\', 'u', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}

type cachedSecond struct {
	unix int64
	text string // includes the opening quote
}

// latestSecond caches the text of the current second, which most events share. Formatting it costs
// more than the rest of an Event.
var latestSecond atomic.Pointer[cachedSecond]

// appendTime appends t in quotes, in UTC with microseconds. It replaces the cached second only by a
// later one, so that Events with alternating seconds do not evict each other's text.
func appendTime(b []byte, t time.Time) []byte {
	const seconds = `"2006-01-02T15:04:05`
	unix, known := t.Unix(), latestSecond.Load()
	switch {
	case known != nil && unix == known.unix:
		b = append(b, known.text...)
	case known != nil && unix < known.unix:
		b = t.UTC().AppendFormat(b, seconds)
	default:
		known = &cachedSecond{unix, t.UTC().Format(seconds)}
		latestSecond.Store(known)
		b = append(b, known.text...)
	}
	b = append(b, ".000000"...)
	micros := t.Nanosecond() / 1000
	for i := len(b) - 1; micros > 0; i-- {
		b[i] += byte(micros % 10)
		micros /= 10
	}
	return append(b, 'Z', '"')
}

func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendString(appendName(b, name), value)
}

func appendName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

func closeObject(b []byte, open int) []byte {
	if len(b) == open {
		return append(b, '{', '}')
	}
	b[open] = '{'
	return append(b, '}')
}

func appendQuotedList(b []byte, list []string) []byte {
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, s)
	}
	return b
}
