package translate

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/gobwas/ws"

	"github.com/troupe-api/troupe/http/internal/stream"
)

// messages is a net.Conn over the binary messages of a WebSocket. Each Write sends one message, and
// Read returns the content of received messages. Writes may be concurrent.
type messages struct {
	net.Conn
	reader *bufio.Reader
	state  ws.State
	left   int64 // unread bytes of the current frame
	mask   [4]byte
	read   int  // read bytes of the current frame
	begins bool // the next byte starts a message

	writing sync.Mutex
}

func newMessages(c net.Conn) *messages {
	return &messages{Conn: c, reader: bufio.NewReaderSize(c, 4<<10), state: ws.StateServerSide}
}

func (m *messages) Read(p []byte) (int, error) {
	n, _, err := m.readPiece(p)
	return n, err
}

// readPiece reads a part of a message. begins reports whether it is the first part. The error is
// io.EOF when the client closes the WebSocket.
func (m *messages) readPiece(p []byte) (n int, begins bool, err error) {
	for m.left == 0 {
		if err := m.nextFrame(); err != nil {
			return 0, false, err
		}
	}
	n, err = m.reader.Read(p[:min(int64(len(p)), m.left)])
	ws.Cipher(p[:n], m.mask, m.read)
	m.left, m.read = m.left-int64(n), m.read+n
	if n > 0 {
		begins, m.begins = m.begins, false
	}
	return n, begins, err
}

// nextFrame handles control frames, and reads the header of the next data frame.
func (m *messages) nextFrame() error {
	for {
		f, err := stream.ReadFrameHeader(m.reader, m.state)
		if err != nil {
			return endOfMessages(err)
		}
		if f.OpCode.IsControl() {
			if err := stream.AnswerControl(lockedConn{m}, m.reader, f); err != nil {
				return endOfMessages(err)
			}
			continue
		}
		if !m.state.Fragmented() {
			m.begins = true
		}
		if m.state = m.state.Set(ws.StateFragmented); f.Fin {
			m.state = m.state.Clear(ws.StateFragmented)
		}
		m.left, m.mask, m.read = f.Length, f.Mask, 0
		return nil
	}
}

func endOfMessages(err error) error {
	var end *stream.CloseError
	if errors.As(err, &end) && end.Code != ws.StatusProtocolError {
		return io.EOF
	}
	return err
}

func (m *messages) Write(b []byte) (int, error) {
	if err := m.send(ws.OpBinary, nil, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (m *messages) send(op ws.OpCode, first, second []byte) error {
	frame := make([]byte, 0, stream.MaxFrameHeader+len(first)+len(second))
	frame = stream.AppendFrameHeader(frame, op, len(first)+len(second))
	frame = append(append(frame, first...), second...)
	m.writing.Lock()
	defer m.writing.Unlock()
	_, err := m.Conn.Write(frame)
	return err
}

// CloseWrite sends a close frame. A WebSocket cannot be half-closed, so the client then closes the
// connection.
func (m *messages) CloseWrite() error {
	return m.send(ws.OpClose, binary.BigEndian.AppendUint16(nil, uint16(ws.StatusNormalClosure)), nil)
}

// A lockedConn is a connection on which each Write writes a complete frame. It shares send's lock,
// so that frames do not interleave.
type lockedConn struct{ *messages }

func (c lockedConn) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.Conn.Write(b)
}
