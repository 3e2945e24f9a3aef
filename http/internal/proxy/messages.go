package proxy

import (
	"encoding/base64"
	"maps"
	"net/http"

	"github.com/gobwas/ws"

	"github.com/troupe-api/troupe/http/internal/stream"
)

// Messages sends a response body over a WebSocket, one message per piece of data. It ignores input
// from the client.
type Messages struct {
	// Header holds the headers of the 101 response.
	Header http.Header
	// Base64 sends each piece as base64 in a text message.
	Base64 bool
}

func (m *Messages) head(front http.Header) []byte {
	maps.Copy(front, m.Header)
	return stream.AppendFrameHeader(headOf(http.StatusSwitchingProtocols, front), m.opcode(), 0)
}

func (m *Messages) message(piece []byte) []byte {
	size := len(piece)
	if m.Base64 {
		size = base64.StdEncoding.EncodedLen(size)
	}
	b := stream.AppendFrameHeader(make([]byte, 0, stream.MaxFrameHeader+size), m.opcode(), size)
	if m.Base64 {
		return base64.StdEncoding.AppendEncode(b, piece)
	}
	return append(b, piece...)
}

func (m *Messages) opcode() ws.OpCode {
	if m.Base64 {
		return ws.OpText
	}
	return ws.OpBinary
}

func (m *Messages) end() []byte {
	reason := ws.NewCloseFrameBody(ws.StatusNormalClosure, "")
	return append(stream.AppendFrameHeader(nil, ws.OpClose, len(reason)), reason...)
}
