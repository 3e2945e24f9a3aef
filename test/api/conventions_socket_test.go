package api

import (
	"encoding/base64"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// dial opens a WebSocket. headers is a list of name, value pairs. If code is not 0, the server must
// reject the handshake with that status code.
func (s *testServer) dial(t testing.TB, code int, path string, headers ...string) *websocket.Conn {
	t.Helper()
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	dialer := websocket.Dialer{TLSClientConfig: s.TLS}
	ws, answer, err := dialer.DialContext(within(t), "wss"+strings.TrimPrefix(s.URL, "https")+path, h)
	if code != 0 {
		if err == nil || answer == nil || answer.StatusCode != code {
			t.Errorf("%s: want %d, got %v, %v", path, code, answer, err)
		}
		return nil
	}
	if err != nil {
		t.Fatalf("%s: %v, %v", path, err, answer)
	}
	if answer.Header.Get("Audit-Id") == "" {
		t.Errorf("%s: no Audit-Id", path)
	}
	t.Cleanup(func() { _ = ws.Close() })
	if err := ws.SetReadDeadline(time.Now().Add(client.Watchdog)); err != nil {
		t.Fatal(err)
	}
	return ws
}

func messageConventions(t testing.TB, ws *websocket.Conn, kind int) []byte {
	t.Helper()
	got, b, err := ws.ReadMessage()
	if err != nil || got != kind {
		t.Fatalf("a message of kind %d, %v", got, err)
	}
	return b
}

func closedWith(t testing.TB, ws *websocket.Conn, code int) {
	t.Helper()
	_, b, err := ws.ReadMessage()
	var end *websocket.CloseError
	if !errors.As(err, &end) || end.Code != code {
		t.Errorf("not closed with %d: %q, %v", code, b, err)
	}
}

// TestSocket checks that a watch over a WebSocket sends each event as one message.
func TestSocket(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	ws := s.dial(t, 0, configMaps+"?watch=1")
	if e := parseEvent(t, string(messageConventions(t, ws, websocket.TextMessage))); brief(e) != "ADDED/a" || ws.Subprotocol() != "" {
		t.Errorf("%s, %q", brief(e), ws.Subprotocol())
	}
	large := strings.Repeat("x", 70<<10)
	s.send(t, 201, http.MethodPost, configMaps, client.JSON, client.ConfigMap("b", nil, map[string]string{"x": large}))
	s.create(t, configMaps, "c", nil)
	s.send(t, 200, http.MethodDelete, configMaps+"/b", "", nil)
	for _, want := range []string{"ADDED/b", "ADDED/c", "DELETED/b"} {
		if e := parseEvent(t, string(messageConventions(t, ws, websocket.TextMessage))); brief(e) != want || strings.HasSuffix(want, "b") && e.Object.Data("x") != large {
			t.Errorf("%s, want %s", brief(e), want)
		}
	}
}

// TestSocketFormats checks that tables and metadata are sent as text messages, and Protobuf as
// binary messages. Binary messages have no length prefix, because WebSocket frames contain the
// length.
func TestSocketFormats(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	ws := s.dial(t, 0, configMaps+"?watch=1", "Accept", "application/json;as=PartialObjectMetadata;g="+metaName+";v=v1")
	if e := parseEvent(t, string(messageConventions(t, ws, websocket.TextMessage))); e.Object["kind"] != "PartialObjectMetadata" || e.Object.Name() != "a" {
		t.Errorf("%v", e)
	}
	ws = s.dial(t, 0, configMaps+"?watch=1", "Accept", "application/json;as=Table;g="+metaName+";v=v1")
	if e := parseEvent(t, string(messageConventions(t, ws, websocket.TextMessage))); e.Object["kind"] != "Table" {
		t.Errorf("%v", e)
	}
	ws = s.dial(t, 0, configMaps+"?watch=1", "Accept", "application/vnd.platform.protobuf")
	b := messageConventions(t, ws, websocket.BinaryMessage)
	field, kind, n := protowire.ConsumeTag(b)
	if name, _ := protowire.ConsumeString(b[n:]); field != 1 || kind != protowire.BytesType || name != "ADDED" {
		t.Errorf("%q", b)
	}
}

// TestSocketEnds checks pings, close frames, and protocol violations by clients.
func TestSocketEnds(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	start := textConventions(s.create(t, configMaps, "a", nil))
	quiet := configMaps + "?watch=1&resourceVersion=" + start
	t.Run("timeout", func(t *testing.T) {
		closedWith(t, s.dial(t, 0, quiet+"&timeoutSeconds=1"), websocket.CloseNormalClosure)
	})
	t.Run("ping", func(t *testing.T) {
		ws := s.dial(t, 0, quiet)
		var pong string
		ws.SetPongHandler(func(text string) error { pong = text; return nil })
		if err := errors.Join(ws.WriteMessage(websocket.TextMessage, []byte("ignored")), ws.WriteMessage(websocket.PingMessage, []byte("hello")),
			ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "bye"))); err != nil {
			t.Fatal(err)
		}
		closedWith(t, ws, websocket.CloseGoingAway)
		if pong != "hello" {
			t.Errorf("pong %q", pong)
		}
	})
	t.Run("noise", func(t *testing.T) {
		ws := s.dial(t, 0, quiet)
		if err := ws.WriteMessage(websocket.BinaryMessage, make([]byte, 1<<20)); err != nil {
			t.Log(err) // the connection may be closed before everything is written
		}
		closedWith(t, ws, websocket.CloseMessageTooBig)
	})
	t.Run("unmasked", func(t *testing.T) {
		ws := s.dial(t, 0, quiet)
		if _, err := ws.NetConn().Write([]byte{0x81, 1, 'x'}); err != nil {
			t.Fatal(err)
		}
		closedWith(t, ws, websocket.CloseProtocolError)
	})
	t.Run("stop", func(t *testing.T) {
		ws := s.dial(t, 0, quiet)
		s.Stop(t)
		closedWith(t, ws, websocket.CloseNormalClosure)
	})
}

// TestSocketRefusals checks that invalid requests are rejected before the WebSocket is established.
func TestSocketRefusals(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.dial(t, 400, configMaps+"?watch=1&resourceVersion=x")
	s.dial(t, 404, "/api/v1/namespaces/default/gizmos?watch=1")
	s.dial(t, 406, configMaps+"?watch=1", "Accept", "application/xml")
	s.dial(t, 200, configMaps) // not a watch: the upgrade is ignored
	s.dial(t, 400, configMaps+"?watch=1", "Sec-WebSocket-Protocol", "a b")
	for _, headers := range [][]string{
		{"Sec-WebSocket-Version", "8", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="},
		{"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAA"},
		{"Sec-WebSocket-Version", "13"},
	} {
		r, err := http.NewRequestWithContext(within(t), http.MethodGet, s.URL+configMaps+"?watch=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Connection", "keep-alive, Upgrade")
		r.Header.Set("Upgrade", "WebSocket")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		transport := &http.Transport{TLSClientConfig: s.TLS}
		answer, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if transport.CloseIdleConnections(); answer.StatusCode != 400 {
			t.Errorf("%v: %d", headers, answer.StatusCode)
		}
	}
}

// TestSocketProtocols checks that the server selects the first subprotocol that is not a token. If
// a subprotocol contains a token, the server must authenticate the client with it.
func TestSocketProtocols(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens")
	client.WriteFile(t, tokens, "secret,root,1,system:masters\n")
	s := serveConventions(t, func(c *daemon.Config) { c.Authentication.TokenAuthFile = tokens })
	s.create(t, configMaps, "a", nil)
	ws := s.dial(t, 0, configMaps+"?watch=1", "Sec-WebSocket-Protocol", "base64.binary.platform.io, other")
	if brief(parseEvent(t, string(messageConventions(t, ws, websocket.TextMessage)))) != "ADDED/a" || ws.Subprotocol() != "base64.binary.platform.io" {
		t.Errorf("sub-protocol %q", ws.Subprotocol())
	}
	s.TLS = s.TLS.Clone()
	s.TLS.Certificates = nil
	token := func(text string) string {
		return "base64url.bearer.authorization.platform.io." + base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	ws = s.dial(t, 0, configMaps+"?watch=1", "Sec-WebSocket-Protocol", token("secret")+",watch")
	if messageConventions(t, ws, websocket.TextMessage); ws.Subprotocol() != "watch" {
		t.Errorf("sub-protocol %q", ws.Subprotocol())
	}
	for _, protocols := range []string{token("wrong") + ",watch", token("secret"), token("secret") + "," + token("secret") + ",watch", token("") + ",watch",
		"base64url.bearer.authorization.platform.io.!,watch"} {
		s.dial(t, 401, configMaps+"?watch=1", "Sec-WebSocket-Protocol", protocols)
	}
}
