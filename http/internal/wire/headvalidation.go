package wire

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/http/internal/apierrors"
)

const maxHeaders = 100

const impersonatePrefix = "impersonate-"

// HeaderFlags records which headers are present, which saves searching for absent headers.
type HeaderFlags struct {
	Impersonation    bool // an Impersonate-* header
	Authorization    bool // Authorization
	AuditID          bool // Audit-Id
	Forwarded        bool // X-Forwarded-For or X-Real-Ip
	Upgrade          bool // Upgrade
	transferEncoding bool // Transfer-Encoding
	ConnectionClose  bool // Connection: close
}

// ValidateHead rejects ambiguous or forbidden requests that fasthttp accepts. It checks the raw
// header lines. After an error, the connection must close, except after a 401 for a request with
// two Authorization headers.
func ValidateHead(h *fasthttp.RequestHeader) (HeaderFlags, error) {
	if p := h.Protocol(); string(p) != "HTTP/1.1" && string(p) != "HTTP/1.0" {
		return HeaderFlags{}, apierrors.BadRequest("the protocol version is not supported")
	}
	for _, c := range h.Method() {
		if c < 'A' || c > 'Z' {
			return HeaderFlags{}, apierrors.BadRequest("the method is malformed")
		}
	}
	found, err := validateHeaderLines(h.RawHeaders())
	switch {
	case err != nil:
		return found, err
	case found.transferEncoding && h.ContentLength() != -1:
		return found, apierrors.BadRequest("the request has a Transfer-Encoding other than chunked")
	case !isHost(h.Host()):
		return found, apierrors.BadRequest("the Host header is malformed")
	}
	return found, nil
}

func validateHeaderLines(raw []byte) (found HeaderFlags, err error) {
	var lines, lengths, encodings, credentials, hosts int
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 1 || raw[end-1] != '\r' {
			return found, apierrors.BadRequest("a header line does not end in CRLF")
		}
		line := raw[:end-1]
		raw = raw[end+1:]
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			return found, apierrors.BadRequest("a header is folded")
		}
		if lines++; lines > maxHeaders {
			return found, apierrors.BadRequest("the request has too many headers")
		}
		if bytes.IndexByte(line, 0) >= 0 || bytes.IndexByte(line, '\r') >= 0 {
			return found, apierrors.BadRequest("a header contains a control character")
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 1 || !isHeaderName(line[:colon]) {
			return found, apierrors.BadRequest("a header has a malformed name")
		}
		switch name := line[:colon]; len(name) {
		case 4:
			hosts += matchLower(name, "host")
		case 7:
			found.Upgrade = found.Upgrade || matchLower(name, "upgrade") == 1
		case 8:
			found.AuditID = found.AuditID || matchLower(name, "audit-id") == 1
		case 9:
			found.Forwarded = found.Forwarded || matchLower(name, "x-real-ip") == 1
		case 10:
			found.ConnectionClose = found.ConnectionClose || matchLower(name, "connection") == 1 && hasCloseOption(line[colon+1:])
		case 13:
			credentials += matchLower(name, "authorization")
		case 14:
			lengths += matchLower(name, "content-length")
		case 15:
			found.Forwarded = found.Forwarded || matchLower(name, "x-forwarded-for") == 1
		case 17:
			encodings += matchLower(name, "transfer-encoding")
		}
		if colon > len(impersonatePrefix) && matchLower(line[:len(impersonatePrefix)], impersonatePrefix) == 1 {
			found.Impersonation = true
		}
	}
	found.Authorization, found.transferEncoding = credentials > 0, encodings > 0
	switch {
	case lengths > 1 || encodings > 1 || hosts > 1:
		return found, apierrors.BadRequest("a header that must be unique is repeated")
	case lengths > 0 && encodings > 0:
		return found, apierrors.BadRequest("the request has both Content-Length and Transfer-Encoding")
	case credentials > 1:
		return found, apierrors.Unauthorized()
	}
	return found, nil
}

func hasCloseOption(options []byte) bool {
	for option := range bytes.SplitSeq(options, []byte(",")) {
		if option = bytes.TrimSpace(option); len(option) == 5 && matchLower(option, "close") == 1 {
			return true
		}
	}
	return false
}

// isHost reports whether all characters of a Host header are valid in names, addresses and ports.
// An IPv6 address must have a closing bracket.
func isHost(host []byte) bool {
	if len(host) > 0 && host[0] == '[' {
		end := bytes.IndexByte(host, ']')
		if end < 0 || len(host) > end+1 && host[end+1] != ':' {
			return false
		}
	}
	for _, c := range host {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("-._~!$&'()*+,;=:[]%", c) >= 0:
		default:
			return false
		}
	}
	return true
}

func isHeaderName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// matchLower returns 1 if name equals lower, ignoring case, and 0 otherwise. Both must have the
// same length.
func matchLower(name []byte, lower string) int {
	for i, c := range name {
		if c|0x20 != lower[i] && c != lower[i] {
			return 0
		}
	}
	return 1
}
