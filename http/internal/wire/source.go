package wire

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// AppendSourceIPs appends the client's addresses: those in proxy headers, which may be forged, and
// then the connection's.
func AppendSourceIPs(list []netip.Addr, ctx *fasthttp.RequestCtx, flags HeaderFlags) []netip.Addr {
	if flags.Forwarded {
		list = appendForwarded(list, &ctx.Request.Header)
	}
	if remote, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		a := normalizeAddr(remote.AddrPort().Addr())
		if n := len(list); n == 0 || list[n-1] != a {
			list = append(list, a)
		}
	}
	return list
}

func appendForwarded(list []netip.Addr, h *fasthttp.RequestHeader) []netip.Addr {
	if forwarded := h.Peek("X-Forwarded-For"); len(forwarded) > 0 {
		for part := range strings.SplitSeq(string(forwarded), ",") {
			if a, err := netip.ParseAddr(strings.TrimSpace(part)); err == nil {
				list = append(list, normalizeAddr(a))
			}
		}
	}
	if real := h.Peek("X-Real-Ip"); len(real) > 0 {
		a, err := netip.ParseAddr(strings.TrimSpace(string(real)))
		if a = normalizeAddr(a); err == nil && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

func normalizeAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
