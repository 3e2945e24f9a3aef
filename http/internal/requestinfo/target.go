package requestinfo

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
)

// maxSegments is the number of segments that are stored inline. No path that this server itself
// handles has more.
const maxSegments = 12

// A Target is a parsed request target. Its strings are copies that remain valid after the request.
type Target struct {
	Raw      string // as sent, without scheme and host
	Path     string // decoded
	Query    Query
	Segments [maxSegments]string
	count    int
	more     []string // segments beyond maxSegments, which only other servers handle
	// TrailingSlash reports whether the path ends in a slash and is not the root.
	TrailingSlash bool
	// Escaped reports whether any segment was percent-encoded.
	Escaped bool
}

// Parse parses the target of a request line. If the target is an absolute URL, its host must equal
// host, the Host header. Every error is a *meta.Status, and means that the request must be
// rejected.
func (t *Target) Parse(raw, host []byte) error {
	if len(raw) == 0 || raw[0] != '/' {
		var err error
		if raw, err = originForm(raw, host); err != nil {
			return err
		}
	}
	text := string(raw)
	if strings.IndexByte(text, '#') >= 0 {
		return apierrors.BadRequest("the request target contains a fragment")
	}
	t.Raw = text
	path, query, _ := strings.Cut(text, "?")
	t.Path, t.Query = path, Query(query)
	if t.Path == "/" {
		return nil
	}
	for rest := t.Path[1:]; ; {
		seg, after, more := strings.Cut(rest, "/")
		if seg == "" && !more {
			t.TrailingSlash = true
			break
		}
		if err := t.addSegment(seg); err != nil {
			return err
		}
		if !more {
			break
		}
		rest = after
	}
	if t.Escaped {
		t.Path = "/" + strings.Join(append(t.Segments[:t.count:t.count], t.more...), "/")
		if t.TrailingSlash {
			t.Path += "/"
		}
	}
	return nil
}

// addSegment rejects segments that proxies normalize or parse differently, so that an alternative
// spelling cannot bypass a policy.
func (t *Target) addSegment(seg string) error {
	if strings.IndexByte(seg, '%') >= 0 {
		t.Escaped = true
		var ok bool
		if seg, ok = unescapeSegment(seg); !ok {
			return apierrors.BadRequest("the path contains an invalid escape")
		}
	}
	switch {
	case seg == "":
		return apierrors.BadRequest("the path contains an empty segment")
	case seg == "." || seg == "..":
		return apierrors.BadRequest("the path contains a dot segment")
	}
	for i := 0; i < len(seg); i++ {
		if seg[i] < ' ' || seg[i] == 0x7f {
			return apierrors.BadRequest("the path contains a control character")
		}
	}
	if t.count == maxSegments {
		t.more = append(t.more, seg)
		return nil
	}
	t.Segments[t.count] = seg
	t.count++
	return nil
}

// RawPath returns the path as sent.
func (t *Target) RawPath() string {
	raw, _, _ := strings.Cut(t.Raw, "?")
	return raw
}

// Behind returns the path after the given number of segments, both decoded and as sent. Each is ""
// or begins with a slash.
func (t *Target) Behind(segments int) (path, raw string) {
	raw = t.RawPath()
	for range segments + 1 {
		_, rest, more := strings.Cut(raw, "/")
		if !more {
			return "", ""
		}
		raw = rest
	}
	raw = "/" + raw
	path, err := url.PathUnescape(raw)
	if err != nil {
		panic(err) // unreachable: each segment was decoded
	}
	return path, raw
}

// unescapeSegment decodes a segment. It rejects escaped slashes and NULs, and escaped percent
// signs, which may hide a second layer of escaping.
func unescapeSegment(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) {
				return "", false
			}
			hi, lo := hexValue(s[i+1]), hexValue(s[i+2])
			if hi < 0 || lo < 0 {
				return "", false
			}
			c = byte(hi<<4 | lo)
			i += 2
			if c == '/' || c == 0 || c == '%' || c == '\\' {
				return "", false
			}
		}
		out = append(out, c)
	}
	return string(out), true
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func originForm(raw, host []byte) ([]byte, error) {
	_, rest, ok := bytes.Cut(raw, []byte("://"))
	if !ok {
		return nil, apierrors.BadRequest("the request target is not a path")
	}
	end := bytes.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if !bytes.EqualFold(rest[:end], host) {
		return nil, apierrors.BadRequest("the request target and the Host header name different hosts")
	}
	if rest = rest[end:]; len(rest) == 0 || rest[0] != '/' {
		return nil, apierrors.BadRequest("the request target has no path")
	}
	return rest, nil
}
