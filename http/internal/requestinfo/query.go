package requestinfo

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
)

// A Query is a raw query string. Most requests have no parameter or one, so it is searched instead of
// being parsed into a map.
type Query string

// next cuts the first parameter off. ok is false at the end. Nothing is split in advance, since most
// parameters of most requests are never asked for.
func (q Query) next() (key, value string, rest Query, ok bool) {
	for q != "" {
		pair, after, _ := strings.Cut(string(q), "&")
		q = Query(after)
		if pair == "" {
			continue
		}
		key, value, _ = strings.Cut(pair, "=")
		return unescapeQuery(key), value, q, true
	}
	return "", "", "", false
}

// Get is the first value of a parameter, decoded; "" if there is none.
func (q Query) Get(name string) string {
	v, _ := q.Lookup(name)
	return v
}

// Lookup is Get, and tells whether the parameter is there. A parameter that is given twice counts with its
// first value, except where Values is used.
func (q Query) Lookup(name string) (string, bool) {
	for q != "" {
		key, value, rest, ok := q.next()
		if ok && key == name {
			return unescapeQuery(value), true
		}
		q = rest
	}
	return "", false
}

// Values are the values of a parameter that are not empty.
func (q Query) Values(name string) []string {
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

// All are the values of a parameter, empty ones too.
func (q Query) All(name string) []string {
	var out []string
	for q != "" {
		key, value, rest, ok := q.next()
		if ok && key == name {
			out = append(out, unescapeQuery(value))
		}
		q = rest
	}
	return out
}

// Number reads an optional number. Its errors have the text of Go's own parser, which clients know.
func (q Query) Number(name string) (int64, error) {
	text, ok := q.Lookup(name)
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, apierrors.BadRequest(err.Error())
	}
	return n, nil
}

// Flag reads a boolean: given without a value it is true, and only "0" and "false" are not.
func (q Query) Flag(name string) bool {
	v, ok := q.Lookup(name)
	return ok && v != "0" && !strings.EqualFold(v, "false")
}

// Normalized is the query written anew, so that everybody reads the same parameters in it as this server.
func (q Query) Normalized() string {
	var b strings.Builder
	for q != "" {
		key, value, rest, ok := q.next()
		if ok {
			if b.Len() > 0 {
				b.WriteByte('&')
			}
			b.WriteString(url.QueryEscape(key) + "=" + url.QueryEscape(unescapeQuery(value)))
		}
		q = rest
	}
	return b.String()
}

// Valid tells whether every escape is well formed. Nothing else may be asked of a query that is not.
func (q Query) Valid() bool {
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

// unescapeQuery decodes a part of a valid query. The usual value has no escape and is returned as it is,
// without a copy.
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
