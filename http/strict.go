package http

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"
)

// maxHeaders is how many header lines a request may have.
const maxHeaders = 100

// impersonate begins the names of headers that ask to act as somebody else.
const impersonate = "impersonate-"

// A heading tells at one look which headers a request has that decide how it is dealt with, so
// that nobody searches for those that are not there.
type heading struct {
	impersonates bool // some header asks to act as somebody else
	authorized   bool // Authorization
	stamped      bool // Audit-Id
	forwarded    bool // X-Forwarded-For or X-Real-Ip
	upgrades     bool // Upgrade
	chunked      bool // Transfer-Encoding
}

// strict refuses what fasthttp lets through although it is ambiguous or forbidden. It
// reads the header lines as they came. Its answers close the connection, save that
// for two credentials, which is a 401.
func strict(h *fasthttp.RequestHeader) (heading, error) {
	if p := h.Protocol(); string(p) != "HTTP/1.1" && string(p) != "HTTP/1.0" {
		return heading{}, badRequest("the protocol version is not supported")
	}
	for _, c := range h.Method() {
		if c < 'A' || c > 'Z' {
			return heading{}, badRequest("the method is malformed")
		}
	}
	found, err := strictLines(h.RawHeaders())
	if err == nil && found.chunked && trailing(h) {
		err = badRequest("the request has headers behind its body")
	}
	return found, err
}

// trailing tells whether a header has come behind a body in chunks. fasthttp puts it among the
// others, although no proxy that vouches for headers has looked at it there.
func trailing(h *fasthttp.RequestHeader) bool {
	lines := map[string]int{}
	for line := range bytes.SplitSeq(h.RawHeaders(), []byte("\r\n")) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		lines[strings.ToLower(string(name))]++
	}
	for name := range h.All() {
		switch name := strings.ToLower(string(name)); name {
		case "host", "content-length", "connection": // never taken from there, and told without a line
		default:
			if lines[name]--; lines[name] < 0 {
				return true
			}
		}
	}
	return false
}

func strictLines(raw []byte) (found heading, err error) {
	var lines, lengths, encodings, credentials, hosts int
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 1 || raw[end-1] != '\r' {
			return found, badRequest("a header line does not end in CRLF")
		}
		line := raw[:end-1]
		raw = raw[end+1:]
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			return found, badRequest("a header is folded")
		}
		if lines++; lines > maxHeaders {
			return found, badRequest("the request has too many headers")
		}
		if bytes.IndexByte(line, 0) >= 0 || bytes.IndexByte(line, '\r') >= 0 {
			return found, badRequest("a header holds a control character")
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 1 || !isName(line[:colon]) {
			return found, badRequest("a header has a malformed name")
		}
		switch name := line[:colon]; len(name) {
		case 4:
			hosts += is(name, "host")
		case 7:
			found.upgrades = found.upgrades || is(name, "upgrade") == 1
		case 8:
			found.stamped = found.stamped || is(name, "audit-id") == 1
		case 9:
			found.forwarded = found.forwarded || is(name, "x-real-ip") == 1
		case 13:
			credentials += is(name, "authorization")
		case 14:
			lengths += is(name, "content-length")
		case 15:
			found.forwarded = found.forwarded || is(name, "x-forwarded-for") == 1
		case 17:
			encodings += is(name, "transfer-encoding")
		}
		if colon > len(impersonate) && is(line[:len(impersonate)], impersonate) == 1 {
			found.impersonates = true
		}
	}
	found.authorized, found.chunked = credentials > 0, encodings > 0
	switch {
	case lengths > 1 || encodings > 1 || hosts > 1:
		return found, badRequest("a header that may come once comes twice")
	case lengths > 0 && encodings > 0:
		return found, badRequest("the request has both Content-Length and Transfer-Encoding")
	case credentials > 1:
		return found, unauthorized()
	}
	return found, nil
}

// isName: the name of a header holds no white space, control character or byte beyond ASCII.
func isName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// is tells, as 1 or 0, whether name is lower in any case.
func is(name []byte, lower string) int {
	for i, c := range name {
		if c|0x20 != lower[i] && c != lower[i] {
			return 0
		}
	}
	return 1
}
