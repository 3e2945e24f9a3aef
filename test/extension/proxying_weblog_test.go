package extension

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// TestLogsOverWebSocket checks that a WebSocket client receives a log as binary or Base64 messages.
// Errors are returned in the response to the upgrade request.
func TestLogsOverWebSocket(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	close(c.kubelet.hold)
	dial := func(query string, protocols ...string) (*websocket.Conn, int) {
		t.Helper()
		d := websocket.Dialer{TLSClientConfig: c.server.TLS, Subprotocols: protocols}
		conn, answer, err := d.DialContext(t.Context(), "wss"+strings.TrimPrefix(c.config.Host, "https")+"/api/v1/namespaces/default/pods/two/log?"+query, nil)
		if answer == nil {
			t.Fatal(err)
		}
		if conn != nil {
			t.Cleanup(func() { conn.Close() })
		}
		return conn, answer.StatusCode
	}
	const want = "log /containerLogs/default/two/side?follow=true&stream=All\nmore\n"
	for protocol, kind := range map[string]int{"": websocket.BinaryMessage, "binary.k8s.io": websocket.BinaryMessage, "base64.binary.k8s.io": websocket.TextMessage} {
		var offered []string
		if protocol != "" {
			offered = []string{"other", protocol}
		}
		conn, code := dial("container=side&follow=true", offered...)
		if conn == nil || conn.Subprotocol() != protocol {
			t.Fatalf("%q: %d", protocol, code)
		}
		var text strings.Builder
		for first := true; ; first = false {
			is, message, err := conn.ReadMessage()
			if err != nil {
				if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
					t.Errorf("%q: %v", protocol, err)
				}
				break
			}
			if is != kind || first && len(message) > 0 {
				t.Errorf("%q: message %d of %d bytes", protocol, is, len(message))
			}
			if is == websocket.TextMessage {
				if message, err = base64.StdEncoding.DecodeString(string(message)); err != nil {
					t.Error(err)
				}
			}
			text.Write(message)
		}
		if text.String() != want {
			t.Errorf("%q: %q, want %q", protocol, text.String(), want)
		}
	}
	if _, code := dial("container=side", "other"); code != 400 {
		t.Errorf("another protocol: %d", code)
	}
	if _, code := dial("container=none"); code != 400 {
		t.Errorf("a container that is not there: %d", code)
	}
}
