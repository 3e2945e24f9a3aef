package http_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/authz"
)

func (f *testServer) openWebSocket(path, headers string) (net.Conn, *bufio.Reader, textproto.MIMEHeader) {
	f.Helper()
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(f)
	f.Cleanup(func() { _ = c.Close() })
	const ask = "GET %s HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n"
	must.Get(fmt.Fprintf(c, ask, path, headers))(f)
	r := bufio.NewReader(c)
	head := textproto.NewReader(r)
	line, err := head.ReadLine()
	if err != nil || line != "HTTP/1.1 101 Switching Protocols" {
		f.Fatalf("%q %v", line, err)
	}
	h := must.Get(head.ReadMIMEHeader())(f)
	return c, r, h
}

func readFrame(t testing.TB, r io.Reader) (first byte, payload string) {
	t.Helper()
	head := make([]byte, 2)
	must.Get(io.ReadFull(r, head))(t)
	size := uint64(head[1])
	if more := map[byte]int{126: 2, 127: 8}[head[1]]; more > 0 {
		long := make([]byte, 8)
		must.Get(io.ReadFull(r, long[8-more:]))(t)
		size = binary.BigEndian.Uint64(long)
	}
	b := make([]byte, size)
	must.Get(io.ReadFull(r, b))(t)
	return head[0], string(b)
}

func TestWebSocketFrames(t *testing.T) {
	f := serve(t, nil)
	c, r, h := f.openWebSocket(configMapsPath+"?watch=1&resourceVersion=5&timeoutSeconds=60", "Sec-WebSocket-Protocol: one, two\r\n")
	if h.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" || h.Get("Sec-WebSocket-Protocol") != "one" {
		t.Errorf("%v", h)
	}
	for _, size := range []int{0, 200, 70 << 10} {
		object := `{"x":"` + strings.Repeat("x", size) + `"}`
		f.sendEvents(request.Event{Type: request.Added, Object: &meta.Object{JSON: []byte(object)}})
		if first, text := readFrame(t, r); first != 0x81 || text != `{"type":"ADDED","object":`+object+"}\n" {
			t.Errorf("%x, %d bytes", first, len(text))
		}
	}
	// Send a masked ping "Hi" and a close with code 1001. Expect a pong and the same code.
	must.Get(c.Write([]byte{0x89, 0x82, 1, 2, 3, 4, 'H' ^ 1, 'i' ^ 2, 0x88, 0x82, 1, 2, 3, 4, 0x03 ^ 1, 0xe9 ^ 2}))(t)
	if first, text := readFrame(t, r); first != 0x8a || text != "Hi" {
		t.Errorf("%x %q", first, text)
	}
	if first, text := readFrame(t, r); first != 0x88 || text != "\x03\xe9" {
		t.Errorf("%x %q", first, text)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("%q %v", rest, err)
	}
	f.waitForNoSession()
}

func TestWebSocketProtocolErrors(t *testing.T) {
	for name, bytes := range map[string][]byte{
		"unmasked":          {0x81, 0x01, 'x'},
		"reserved bit":      {0xc1, 0x80, 0, 0, 0, 0},
		"reserved opcode":   {0x83, 0x80, 0, 0, 0, 0},
		"fragmented ping":   {0x09, 0x80, 0, 0, 0, 0},
		"long ping":         {0x89, 0xfe, 0, 126, 0, 0, 0, 0},
		"impossible length": {0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, nil)
			c, r, _ := f.openWebSocket(configMapsPath+"?watch=1&resourceVersion=5", "")
			must.Get(c.Write(bytes))(t)
			if first, text := readFrame(t, r); first != 0x88 || text != "\x03\xea" {
				t.Errorf("%x %q", first, text)
			}
			f.waitForNoSession()
		})
	}
}

type allowNameA struct{}

func (allowNameA) Authorize(a authz.Attributes) (authz.Decision, string) {
	if a.Name == "a" {
		return authz.Allow, ""
	}
	return authz.NoOpinion, ""
}

// TestSelectedName tests that a user with access to a single object may list and watch it by name.
func TestSelectedName(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.Authorizer = allowNameA{} })
	for query, want := range map[string]int{
		"":                                        403,
		"?fieldSelector=metadata.name%3Da":        200,
		"?fieldSelector=metadata.name%3D%3Da":     200,
		"?fieldSelector=metadata.name!%3Da":       403,
		"?fieldSelector=metadata.name%3Db":        403,
		"?fieldSelector=metadata.namespace%3Da":   403,
		"?fieldSelector=metadata.name%3Da,%3D":    200, // the second requirement selects everything
		"?fieldSelector=metadata.name%3Da,b":      403,
		"?labelSelector=metadata.name%3Da":        403,
		"?watch=1&fieldSelector=metadata.name%3D": 403,
	} {
		if resp, body := f.do("GET", configMapsPath+query, ""); resp.StatusCode != want {
			t.Errorf("%s: %d %s", query, resp.StatusCode, body)
		}
	}
	if resp, _ := f.do("DELETE", configMapsPath+"?fieldSelector=metadata.name%3Da", ""); resp.StatusCode != 403 {
		t.Errorf("deletecollection: %d", resp.StatusCode)
	}
}
