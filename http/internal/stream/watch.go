package stream

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// A Conn is a hijacked connection.
type Conn interface {
	net.Conn
	// AwaitInput blocks until input arrives, without the buffer that a Read needs. It may return
	// early.
	AwaitInput() error
	// LingerOnClose makes Close block until the client has stopped sending.
	LingerOnClose()
	// Idle reports whether nothing was written in the last few seconds.
	Idle() bool
}

// A Watch writes the events of a store session to a connection. The session's goroutine writes, and
// the connection's goroutine reads.
type Watch struct {
	conn   Conn
	events writer

	initialDone func() // called once the initial events were sent or never will be

	begun   atomic.Bool    // Start was called: the watch owns the connection
	started sync.WaitGroup // until the head was sent or failed
	headErr error          // error of sending the head; set before started is done
	done    chan struct{}  // closed by Done
	// The session's goroutine sets writeFailed before done is closed.
	writeFailed bool

	mu      sync.Mutex // guards the fields below
	session request.Session
	stopped bool
	refusal *meta.Status // sent as the last event; nil if none
}

// New returns a watch, which writes nothing before Start.
func New(c Conn, e Encoder, f Framing) *Watch {
	w := &Watch{conn: c, events: writer{encoder: e, framing: f}, done: make(chan struct{})}
	w.started.Add(1)
	return w
}

// OnInitialDone sets a function to call once the initial events are sent or can no longer be sent.
// Call it before the session starts. f may be called several times.
func (w *Watch) OnInitialDone(f func()) { w.initialDone = f }

func (w *Watch) InitialDone() {
	if w.initialDone != nil {
		w.initialDone()
	}
}

// Attach sets the session of the watch. If the watch was already stopped, it stops the session.
func (w *Watch) Attach(session request.Session) {
	w.mu.Lock()
	w.session = session
	stopped := w.stopped
	w.mu.Unlock()
	if stopped {
		session.Stop()
	}
}

// Fail ends a watch whose session failed to start. Run then sends status as an ERROR event.
func (w *Watch) Fail(status *meta.Status) {
	w.mu.Lock()
	w.refusal = status
	w.mu.Unlock()
	w.Done()
}

// Stop stops the session. It may be called repeatedly and concurrently.
func (w *Watch) Stop() {
	w.mu.Lock()
	session := w.session
	w.stopped = true
	w.mu.Unlock()
	if session != nil {
		session.Stop()
	}
}

// Start sends the response head, which precedes all events.
func (w *Watch) Start(head []byte) {
	w.begun.Store(true)
	_, w.headErr = w.conn.Write(head)
	w.started.Done()
}

func (w *Watch) Events(events []request.Event) error {
	w.started.Wait()
	if w.headErr != nil {
		w.writeFailed = true
		return w.headErr
	}
	err := w.events.write(w.conn, events)
	w.writeFailed = w.writeFailed || err != nil
	return err
}

// Done ends Run. The session calls it at its end.
func (w *Watch) Done() {
	w.InitialDone()
	close(w.done)
	interruptRead(w.conn)
}

var longAgo = time.Unix(1, 0)

// interruptRead makes pending and later Reads time out. Any other interruption would close the
// connection.
func interruptRead(c net.Conn) {
	_ = c.SetReadDeadline(longAgo) // fails only if closed, which ends Read too
}

// maxClientInput is the maximum number of bytes that a client may send during a watch.
const maxClientInput = 64 << 10

var errUnexpectedInput = errors.New("the client sent data in a watch")

// Run reads input until the client disconnects, the timeout passes, or the session ends. It then
// waits for the session, ends the response, calls atEnd, and closes the connection.
func (w *Watch) Run(timeout time.Duration, atEnd func()) {
	defer func() { _ = w.conn.Close() }() // errors cannot be reported
	defer atEnd()
	err := w.conn.SetReadDeadline(time.Now().Add(timeout))
	if err == nil {
		err = w.readUntilEnd()
	}
	w.Stop()
	<-w.done
	if w.writeFailed || w.headErr != nil || w.sendRefusal() != nil {
		return
	}
	switch {
	case w.events.framing == WebSocket:
		w.closeWebSocket(err)
	case w.events.framing == Chunked && isTimeout(err):
		// The last chunk ends the response properly. An error cannot be reported.
		_, _ = w.conn.Write([]byte("0\r\n\r\n"))
	}
}

func (w *Watch) readUntilEnd() error {
	select {
	case <-w.done: // Run's deadline may have overwritten that of Done
		return os.ErrDeadlineExceeded
	default:
	}
	if w.events.framing == WebSocket {
		return readFrames(w.conn)
	}
	return discardInput(w.conn)
}

// discardInput reads and discards client input until the client disconnects. It allocates a buffer
// only when input arrives, because most clients send nothing.
func discardInput(c Conn) error {
	for total := 0; total < maxClientInput; {
		if err := c.AwaitInput(); err != nil {
			return err
		}
		var buf [64]byte
		n, err := c.Read(buf[:])
		if err != nil {
			return err
		}
		total += n
	}
	return errUnexpectedInput
}

func isTimeout(err error) bool {
	var fault net.Error
	return errors.As(err, &fault) && fault.Timeout()
}

func (w *Watch) sendRefusal() error {
	w.mu.Lock()
	refusal := w.refusal
	w.mu.Unlock()
	if refusal == nil {
		return nil
	}
	return w.events.write(w.conn, []request.Event{{Type: request.Error, Status: refusal}})
}

// Revoke ends the watch with an ERROR event that contains refusal. Pending events that the client
// does not read within revokeGrace are lost.
func (w *Watch) Revoke(refusal *meta.Status) {
	w.mu.Lock()
	w.refusal = refusal
	w.mu.Unlock()
	w.Stop()
	time.AfterFunc(revokeGrace, w.ForceClose)
}

var _ limits.Item = (*Watch)(nil)

// Idle reports whether the watch has sent nothing in the last few seconds.
func (w *Watch) Idle() bool { return w.conn.Idle() }

// Reclaim ends the watch properly, with a bookmark if the client requested bookmarks. Pending
// events that the client does not read within revokeGrace are lost.
func (w *Watch) Reclaim() {
	w.mu.Lock()
	session := w.session
	w.mu.Unlock()
	if session != nil {
		session.Finish()
	}
	time.AfterFunc(revokeGrace, w.ForceClose)
}

// ForceClose closes the connection of a started watch. Before Start, it does nothing, because the
// connection belongs to the HTTP request and may be reused after an error response.
func (w *Watch) ForceClose() {
	if !w.begun.Load() {
		return
	}
	select {
	case <-w.done:
	default:
		_ = w.conn.Close() // the client does not read; errors cannot be reported
	}
}
