package http

import (
	"bufio"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// What a request proves itself with is read once, and nobody sees it afterwards.
func TestCredentialsAreTakenOut(t *testing.T) {
	const socket = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: "
	s := &Server{names: names{bearerProtocol: "base64url.bearer.authorization." + meta.Platform.Name("platform.io") + "."}}
	hidden := s.names.bearerProtocol + "czNjcmV0"
	for _, test := range []struct {
		headers, token string
		has, refused   bool
		protocols      string // that are left
	}{
		{"", "", false, false, ""},
		{"Authorization: Bearer s3cret\r\n", "s3cret", true, false, ""},
		{"authorization: bEARER  s3cret \r\n", "s3cret", true, false, ""},
		{"Authorization: Bearer\r\n", "", true, false, ""},
		{"Authorization: Basic s3cret\r\n", "", true, false, ""},
		{"Authorization:\r\n", "", true, false, ""},
		{socket + "a, " + hidden + ", b\r\n", "s3cret", true, false, "a, b"},
		{socket + hidden + "\r\nSec-WebSocket-Protocol: a\r\n", "s3cret", true, false, "a"},
		{socket + "a, b\r\n", "", false, false, "a, b"},
		{socket + "a, " + hidden + "\r\nAuthorization: Bearer other\r\n", "other", true, false, "a"},
		{socket + hidden + "\r\n", "", false, true, hidden},
	} {
		var ctx fasthttp.RequestCtx
		text := "GET /version HTTP/1.1\r\nHost: h\r\n" + test.headers + "\r\n"
		if err := ctx.Request.Header.Read(bufio.NewReader(strings.NewReader(text))); err != nil {
			t.Fatal(err)
		}
		x := &exchange{ctx: &ctx, info: Info{Path: "/version"}}
		if err := x.look(); err != nil {
			t.Fatal(err)
		}
		r, err := s.credentials(x)
		if (err != nil) != test.refused || r.Path != "/version" {
			t.Errorf("%q: %v", test.headers, err)
		}
		if !test.refused && (r.Token != test.token || r.HasToken != test.has) {
			t.Errorf("%q: token %q, %t", test.headers, r.Token, r.HasToken)
		}
		var left []string
		for _, v := range ctx.Request.Header.PeekAll("Sec-WebSocket-Protocol") {
			left = append(left, string(v))
		}
		if strings.Join(left, "|") != test.protocols || ctx.Request.Header.Peek("Authorization") != nil {
			t.Errorf("%q: left are %q and %q", test.headers, left, ctx.Request.Header.Peek("Authorization"))
		}
	}
}
