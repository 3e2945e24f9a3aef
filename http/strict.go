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

// strict refuses what fasthttp lets through although it is ambiguous or forbidden. It
// reads the header lines as they came. Its answers close the connection, save that
// for two credentials, which is a 401. It tells whether the request asks to act as somebody else.
func strict(h *fasthttp.RequestHeader) (impersonates bool, err error) {
	if p := h.Protocol(); string(p) != "HTTP/1.1" && string(p) != "HTTP/1.0" {
		return false, badRequest("the protocol version is not supported")
	}
	for _, c := range h.Method() {
		if c < 'A' || c > 'Z' {
			return false, badRequest("the method is malformed")
		}
	}
	if impersonates, err = strictLines(h.RawHeaders()); err == nil && h.ContentLength() < 0 && trailing(h) {
		return false, badRequest("the request has headers behind its body")
	}
	return impersonates, err
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

func strictLines(raw []byte) (impersonates bool, err error) {
	var lines, lengths, encodings, credentials, hosts int
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 1 || raw[end-1] != '\r' {
			return false, badRequest("a header line does not end in CRLF")
		}
		line := raw[:end-1]
		raw = raw[end+1:]
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			return false, badRequest("a header is folded")
		}
		if lines++; lines > maxHeaders {
			return false, badRequest("the request has too many headers")
		}
		if bytes.IndexByte(line, 0) >= 0 || bytes.IndexByte(line, '\r') >= 0 {
			return false, badRequest("a header holds a control character")
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 1 || !isName(line[:colon]) {
			return false, badRequest("a header has a malformed name")
		}
		switch name := line[:colon]; len(name) {
		case 4:
			hosts += is(name, "host")
		case 13:
			credentials += is(name, "authorization")
		case 14:
			lengths += is(name, "content-length")
		case 17:
			encodings += is(name, "transfer-encoding")
		}
		if colon > len(impersonate) && is(line[:len(impersonate)], impersonate) == 1 {
			impersonates = true
		}
	}
	switch {
	case lengths > 1 || encodings > 1 || hosts > 1:
		return false, badRequest("a header that may come once comes twice")
	case lengths > 0 && encodings > 0:
		return false, badRequest("the request has both Content-Length and Transfer-Encoding")
	case credentials > 1:
		return false, unauthorized()
	}
	return impersonates, nil
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
