package requestinfo

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
)

// A Query is a raw query string. Most queries have at most one parameter, so lookups search the
// string instead of parsing it into a map.
type Query string

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

// Get returns the first value of a parameter, decoded, or "".
func (q Query) Get(name string) string {
	v, _ := q.Lookup(name)
	return v
}

// Lookup returns the first value of a parameter, decoded, and whether the parameter exists.
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

// Values returns the nonempty values of a parameter.
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

// All returns all values of a parameter.
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

// Number returns the value of a numeric parameter, or 0 if it is absent. Its errors contain
// strconv's text, as in kube-apiserver.
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

// Flag parses a bool. Every value except "0" and "false" is true, even the empty value.
func (q Query) Flag(name string) bool {
	v, ok := q.Lookup(name)
	return ok && v != "0" && !strings.EqualFold(v, "false")
}

// Normalized returns the query in canonical encoding, so that other parsers see the same
// parameters.
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

// Valid reports whether all escapes are well-formed. The other methods require a valid query.
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
