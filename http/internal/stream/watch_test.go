package stream

import (
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

type closeRecorder struct {
	net.Conn
	closed atomic.Bool
}

func (c *closeRecorder) Write(b []byte) (int, error) { return io.Discard.Write(b) }
func (c *closeRecorder) Close() error                { c.closed.Store(true); return nil }
func (c *closeRecorder) AwaitInput() error           { return nil }
func (c *closeRecorder) LingerOnClose()              {}
func (c *closeRecorder) Idle() bool                  { return false }

type session struct{ stopped int }

func (s *session) Stop()   { s.stopped++ }
func (s *session) Finish() {}

// TestRevokedBeforeStart checks that revoking an unstarted watch stops the session but does not
// close the connection.
func TestRevokedBeforeStart(t *testing.T) {
	c, s := &closeRecorder{}, &session{}
	w := New(c, typeEncoder{}, Chunked)
	w.Revoke(&meta.Status{Code: 403})
	if w.ForceClose(); c.closed.Load() {
		t.Error("the connection of a request is closed")
	}
	if w.Attach(s); s.stopped != 1 {
		t.Errorf("the session is stopped %d times", s.stopped)
	}
	w.Start([]byte("head"))
	if w.ForceClose(); !c.closed.Load() {
		t.Error("the connection of a watch that goes on is not closed")
	}
}
