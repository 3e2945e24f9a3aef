package http_test

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
)

// TestWatchHead tests that a watch response has the common headers and those of its framing, and an
// error response only the common headers.
func TestWatchHead(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.StrictTransportSecurity = "max-age=1" })
	head := func(path, version, headers string) textproto.MIMEHeader {
		c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(t)
		defer c.Close()
		must.Get(io.WriteString(c, "GET "+configMapsPath+path+" HTTP/"+version+"\r\nHost: h\r\nAudit-Id: me\r\n"+headers+"\r\n"))(t)
		r := textproto.NewReader(bufio.NewReader(c))
		line := must.Get(r.ReadLine())(t)
		h := must.Get(r.ReadMIMEHeader())(t)
		h.Set("Line", line)
		return h
	}
	common := []string{"Audit-Id", "Cache-Control", "Date", "Line", "Strict-Transport-Security"}
	const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
	const key = "dGhlIHNhbXBsZSBub25jZQ==\r\n"
	for _, c := range []struct {
		path, version, headers, line string
		more                         []string
	}{
		{"", "1.1", "", "HTTP/1.1 200 OK", []string{"Content-Length", "Content-Type"}},
		{"?watch=1", "1.1", "", "HTTP/1.1 200 OK", []string{"Connection", "Content-Type", "Transfer-Encoding"}},
		{"?watch=1", "1.0", "", "HTTP/1.1 200 OK", []string{"Connection", "Content-Type"}},
		{"?watch=1", "1.1", upgrade + key, "HTTP/1.1 101 Switching Protocols", []string{"Connection", "Sec-Websocket-Accept", "Upgrade"}},
		{"?watch=1", "1.1", upgrade + "x\r\n", "HTTP/1.1 400 Bad Request", []string{"Content-Length", "Content-Type"}},
		{"?watch=1", "1.1", strings.Replace(upgrade, "13", "12", 1) + key, "HTTP/1.1 400 Bad Request", []string{"Content-Length", "Content-Type", "Sec-Websocket-Version"}},
	} {
		got := head(c.path, c.version, c.headers)
		want := append(slices.Clone(common), c.more...)
		slices.Sort(want)
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) || got.Get("Line") != c.line || got.Get("Audit-Id") != "me" {
			t.Errorf("%s HTTP/%s %s:\ngot  %v\nwant %v", c.path, c.version, c.headers, got, want)
		}
	}
}
