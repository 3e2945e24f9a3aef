package http

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// maxAgent bounds a User-Agent, in bytes.
const maxAgent = 1024

func userAgent(b []byte) string {
	if len(b) > maxAgent {
		return string(b[:maxAgent]) + "...TRUNCATED"
	}
	return string(b)
}

// appendSources appends the addresses from which a request has come: what proxies say, and
// last the one that cannot lie.
func appendSources(list []netip.Addr, x *exchange) []netip.Addr {
	if x.heading.forwarded {
		list = appendForwarded(list, &x.ctx.Request.Header)
	}
	if remote, ok := x.ctx.RemoteAddr().(*net.TCPAddr); ok {
		a := plainAddress(remote.AddrPort().Addr())
		if n := len(list); n == 0 || list[n-1] != a {
			list = append(list, a)
		}
	}
	return list
}

// appendForwarded appends the addresses that proxies name.
func appendForwarded(list []netip.Addr, h *fasthttp.RequestHeader) []netip.Addr {
	if forwarded := h.Peek("X-Forwarded-For"); len(forwarded) > 0 {
		for part := range strings.SplitSeq(string(forwarded), ",") {
			if a, err := netip.ParseAddr(strings.TrimSpace(part)); err == nil {
				list = append(list, plainAddress(a))
			}
		}
	}
	if real := h.Peek("X-Real-Ip"); len(real) > 0 {
		a, err := netip.ParseAddr(strings.TrimSpace(string(real)))
		if a = plainAddress(a); err == nil && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// plainAddress has no zone, and is IPv4 where it can be.
func plainAddress(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
