package merge

import (
	"errors"
	"slices"
	"strings"
)

// A pointer is a parsed RFC 6901 JSON pointer: its reference tokens, unescaped. The
// empty pointer is the whole document.
type pointer []string

// parsePointer reads a pointer: each token follows a slash.
//
// As an example, "/metadata/annotations/a.b~1c" has the tokens metadata, annotations and a.b/c. What a
// token means, a key or an index, depends on the value that it is looked for in.
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
			// ~1 first, so that ~01 becomes ~1 and not a slash
			t = strings.ReplaceAll(t, "~1", "/")
			tokens[i] = strings.ReplaceAll(t, "~0", "~")
		}
	}
	return tokens, nil
}

// isBelow tells whether p is strictly below q.
func (p pointer) isBelow(q pointer) bool {
	return len(p) > len(q) && slices.Equal(p[:len(q)], q)
}

// index reads the index of a list: decimal digits without a leading zero, less than limit.
//
// "-", the place after the last item, is no index here: only add knows it. "01" and "+1" are none at all.
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
