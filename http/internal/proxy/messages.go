package proxy

import (
	"encoding/base64"
	"net/http"

	"github.com/gobwas/ws"

	"github.com/troupe-api/troupe/http/internal/stream"
)

// Messages are a WebSocket on which a body goes to a client, each piece as a message. What the client sends counts for nothing.
type Messages struct {
	// Header is that of the answer to the upgrade.
	Header http.Header
	// Base64 makes texts of the pieces.
	Base64 bool
}

// head is the answer to the upgrade, and a first message, which is empty: it tells that the body begins.
func (m *Messages) head(front http.Header) []byte {
	for name, values := range m.Header {
		front[name] = values
	}
	return stream.AppendFrameHeader(headOf(http.StatusSwitchingProtocols, front), m.opcode(), 0)
}

// message is a piece of the body.
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

// end is the last message.
func (m *Messages) end() []byte {
	reason := ws.NewCloseFrameBody(ws.StatusNormalClosure, "")
	return append(stream.AppendFrameHeader(nil, ws.OpClose, len(reason)), reason...)
}
