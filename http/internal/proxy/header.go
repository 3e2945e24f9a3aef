package proxy

import (
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"
)

// hopByHop lists the hop-by-hop headers of RFC 9110, section 7.6.1, and obsolete ones.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Http2-Settings",
}

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
		h["User-Agent"] = nil // else net/http sets its own
	}
	if t.EditHeader != nil {
		t.EditHeader(h)
	}
	return h
}

func (r *Request) addForwardedFor(h http.Header) {
	if !r.ClientAddr.IsValid() {
		return
	}
	all := append(h["X-Forwarded-For"], r.ClientAddr.String())
	h.Set("X-Forwarded-For", strings.Join(all, ", "))
}

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

// UpgradeOf returns the requested upgrade protocol, or "".
//
// It ignores upgrades to HTTP/2, whose requests would reach the backend unchecked. RFC 9110 allows
// this.
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

// addFrontHeaders adds this server's own headers to a response. It keeps the backend's
// Cache-Control, and merges Warning and Vary.
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
