package proxy

import (
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"
)

// hopByHop are the headers that are about one connection (RFC 9110, 7.6.1, and what was before it).
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Http2-Settings",
}

// removeHopByHop removes what is about one connection, also what Connection names.
func removeHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name != "" {
				h.Del(name)
			}
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}

// header is the header of the request to the backend.
func (r *Request) header(t *Target, upgrade string) http.Header {
	h := make(http.Header, 16)
	for name, value := range r.Headers {
		h.Add(name, value)
	}
	trailers := hasToken(h["Te"], "trailers")
	removeHopByHop(h)
	h.Del("Host")
	h.Del("Content-Length")
	if trailers {
		h.Set("Te", "trailers")
	}
	if upgrade != "" {
		h.Set("Connection", "Upgrade")
		h.Set("Upgrade", upgrade)
		h.Del("Sec-Websocket-Protocol")
		if len(r.Protocols) > 0 {
			h.Set("Sec-Websocket-Protocol", strings.Join(r.Protocols, ","))
		}
	}
	r.addForwardedFor(h)
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or net/http would make one up
	}
	if t.EditHeader != nil {
		t.EditHeader(h)
	}
	return h
}

// addForwardedFor tells the backend who has asked: behind those that say for whom they have asked.
func (r *Request) addForwardedFor(h http.Header) {
	if !r.ClientAddr.IsValid() {
		return
	}
	all := append(h["X-Forwarded-For"], r.ClientAddr.String())
	h.Set("X-Forwarded-For", strings.Join(all, ", "))
}

// hasToken tells whether a header that is a list has an item, in any case.
func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(item), token) {
				return true
			}
		}
	}
	return false
}

// UpgradeOf is the protocol to which a request asks to be upgraded; "" is none.
//
// HTTP/2 is none: the requests in it would reach the backend with headers that nobody has looked at. A server may always
// take an upgrade for a plain request.
func UpgradeOf(h *fasthttp.RequestHeader) string {
	var connection []string
	for _, line := range h.PeekAll("Connection") {
		connection = append(connection, string(line))
	}
	if !h.IsHTTP11() || !hasToken(connection, "upgrade") {
		return ""
	}
	protocol := string(h.Peek("Upgrade"))
	for item := range strings.SplitSeq(protocol, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(item), "/")
		if strings.EqualFold(name, "h2c") || strings.EqualFold(name, "http") || strings.EqualFold(name, "tls") {
			return ""
		}
	}
	return protocol
}

// addFrontHeaders gives an answer the headers that the front gives to every one.
//
// How long it may be kept is what the backend knows, and both may warn.
func addFrontHeaders(h http.Header, front *fasthttp.ResponseHeader) {
	fresh := map[string]bool{}
	for key, value := range front.All() {
		switch name := string(key); name {
		case "Content-Type", "Content-Length", "Connection", "Transfer-Encoding", "Date", "Server":
		case "Cache-Control":
			if h.Get(name) == "" {
				h.Set(name, string(value))
			}
		case "Warning", "Vary":
			h.Add(name, string(value))
		default:
			if !fresh[name] {
				fresh[name] = true
				h.Del(name)
			}
			h.Add(name, string(value))
		}
	}
}
