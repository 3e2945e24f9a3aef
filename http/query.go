package http

import (
	"net/url"
	"strconv"
	"strings"
)

// A query is a raw query string. Most requests ask for nothing or one parameter, so it
// is searched instead of being taken apart.
type query string

// next cuts the first parameter off. ok is false at the end.
func (q query) next() (key, value string, rest query, ok bool) {
	for q != "" {
		pair, after, _ := strings.Cut(string(q), "&")
		q = query(after)
		if pair == "" {
			continue
		}
		key, value, _ = strings.Cut(pair, "=")
		return unescapeQuery(key), value, q, true
	}
	return "", "", "", false
}

// get is the first value of a parameter, decoded; "" if there is none.
func (q query) get(name string) string {
	v, _ := q.lookup(name)
	return v
}

// lookup tells also whether the parameter is there.
func (q query) lookup(name string) (string, bool) {
	for q != "" {
		key, value, rest, ok := q.next()
		if ok && key == name {
			return unescapeQuery(value), true
		}
		q = rest
	}
	return "", false
}

// values are the values of a parameter that are not empty.
func (q query) values(name string) []string {
	var out []string
	for q != "" {
		key, value, rest, ok := q.next()
		if ok && key == name && value != "" {
			out = append(out, unescapeQuery(value))
		}
		q = rest
	}
	return out
}

// number reads an optional number, in the words of Go's own parser.
func (q query) number(name string) (int64, error) {
	text, ok := q.lookup(name)
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, badRequest(err.Error())
	}
	return n, nil
}

// flag reads a boolean: given without a value it is true, and only "0" and "false" are not.
func (q query) flag(name string) bool {
	v, ok := q.lookup(name)
	return ok && v != "0" && !strings.EqualFold(v, "false")
}

// valid tells whether every escape is well formed.
func (q query) valid() bool {
	for i := 0; i < len(q); i++ {
		if q[i] != '%' {
			continue
		}
		if i+2 >= len(q) || hexValue(q[i+1]) < 0 || hexValue(q[i+2]) < 0 {
			return false
		}
		i += 2
	}
	return true
}

// unescapeQuery decodes what valid has passed.
func unescapeQuery(s string) string {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '+') < 0 {
		return s
	}
	out, err := url.QueryUnescape(s)
	if err != nil {
		return s
	}
	return out
}
