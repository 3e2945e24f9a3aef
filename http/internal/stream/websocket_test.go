package stream

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// A readerConn returns the bytes of a reader, as if the peer then disconnected.
type readerConn struct {
	net.Conn
	in  *bytes.Reader
	out int
}

func (p *readerConn) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *readerConn) Write(b []byte) (int, error) { p.out += len(b); return len(b), nil }

type noLinger struct{ net.Conn }

func (noLinger) AwaitInput() error { return nil }
func (noLinger) LingerOnClose()    {}
func (noLinger) Idle() bool        { return false }

// TestWebSocketEndsBeforeItRuns checks that the WebSocket ends if its session ends before Run.
func TestWebSocketEndsBeforeItRuns(t *testing.T) {
	server, client := net.Pipe()
	w := New(noLinger{server}, nil, WebSocket)
	ended := false
	w.Done()
	go w.Run(time.Hour, func() { ended = true; _ = server.Close() })
	b, err := io.ReadAll(client)
	if err != nil || !bytes.Equal(b, []byte{0x88, 2, 3, 232}) || !ended {
		t.Errorf("%x %v", b, err)
	}
}

// FuzzFrames checks that the WebSocket ends properly after any client input, and that the input
// size limits the output size.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{"", "\x89\x82\x01\x02\x03\x04Hi", "\x88\x80\x00\x00\x00\x00", "\x81\xfe\x00\x7e\x00\x00\x00\x00", "\x82\xff\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &readerConn{in: bytes.NewReader(b)}
		err := readFrames(p)
		var end *CloseError
		if !errors.As(err, &end) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%x: %v", b, err)
		}
		if p.out > len(b) {
			t.Errorf("%x: %d bytes were answered", b, p.out)
		}
	})
}
