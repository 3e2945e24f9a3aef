package http

import (
	"bufio"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// TestCredentialsAreHidden tests that authentication hides the credentials from code that reads the
// headers later.
func TestCredentialsAreHidden(t *testing.T) {
	const socket = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: "
	s := &Server{names: negotiate.Names{BearerProtocol: "base64url.bearer.authorization." + meta.Platform.Translate("platform.io") + "."}}
	hidden := s.names.BearerProtocol + "czNjcmV0"
	for _, test := range []struct {
		headers, token string
		has, refused   bool
	}{
		{"", "", false, false},
		{"Authorization: Bearer s3cret\r\n", "s3cret", true, false},
		{"authorization: bEARER  s3cret \r\n", "s3cret", true, false},
		{"Authorization: Bearer\r\n", "", false, false},
		{"Authorization: Basic s3cret\r\n", "", false, false},
		{"Authorization:\r\n", "", false, false},
		{socket + "a, " + hidden + ", b\r\n", "s3cret", true, false},
		{socket + hidden + "\r\nSec-WebSocket-Protocol: a\r\n", "s3cret", true, false},
		{socket + "a, b\r\n", "", false, false},
		{socket + "a, " + hidden + "\r\nAuthorization: Bearer other\r\n", "other", true, false},
		{socket + hidden + "\r\n", "", false, true},
	} {
		var ctx fasthttp.RequestCtx
		text := "GET /version HTTP/1.1\r\nHost: h\r\n" + test.headers + "\r\n"
		must.Succeed(t, ctx.Request.Header.Read(bufio.NewReader(strings.NewReader(text))))
		x := &requestContext{ctx: &ctx, conn: &connection{Conn: &wire.Conn{}}, info: requestinfo.Info{Path: "/version"}}
		x.headers.Header = &ctx.Request.Header
		must.Succeed(t, s.parseHead(x))
		r, err := s.readCredentials(x)
		if (err != nil) != test.refused || r.Path != "/version" {
			t.Errorf("%q: %v", test.headers, err)
		}
		if !test.refused && (r.Token != test.token || r.HasToken != test.has) {
			t.Errorf("%q: token %q, %t", test.headers, r.Token, r.HasToken)
		}
		for _, name := range []string{"Authorization", "sec-websocket-protocol"} {
			if left := x.headers.Values(name); left != nil && !test.refused && (name == "Authorization" || strings.Contains(test.headers, socket)) {
				t.Errorf("%q: left are %q", test.headers, left)
			}
		}
	}
}
