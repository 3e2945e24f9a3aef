package merge

import (
	"errors"
	"slices"
	"strings"
)

// A pointer contains the unescaped tokens of an RFC 6901 JSON pointer. The empty pointer refers
// to the whole document.
type pointer []string

// parsePointer splits a pointer. Whether a token is a key or a list index depends on the document.
func parsePointer(s string) (pointer, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, errors.New("a path does not begin with '/'")
	}
	tokens := strings.Split(s[1:], "/")
	for i, t := range tokens {
		if strings.IndexByte(t, '~') >= 0 {
			// Replace ~1 first, so that ~01 becomes ~1 and not a slash.
			t = strings.ReplaceAll(t, "~1", "/")
			tokens[i] = strings.ReplaceAll(t, "~0", "~")
		}
	}
	return tokens, nil
}

func (p pointer) isBelow(q pointer) bool {
	return len(p) > len(q) && slices.Equal(p[:len(q)], q)
}

// index parses a list index up to limit, in decimal digits without a leading zero. It rejects "-",
// the end of a list, which only the operation add supports.
func index(token string, limit int) (int, bool) {
	if token == "" || len(token) > 1 && token[0] == '0' {
		return 0, false
	}
	n := 0
	for i := 0; i < len(token); i++ {
		c := token[i]
		if c < '0' || c > '9' || n > limit {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n < limit
}
