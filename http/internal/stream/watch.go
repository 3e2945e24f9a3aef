package stream

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// A Conn is the connection that a watch has taken over.
type Conn interface {
	net.Conn
	// AwaitInput waits until there is something to read, with less memory than a Read. It may return at once instead.
	AwaitInput() error
	// LingerOnClose makes Close wait until the client has stopped sending.
	LingerOnClose()
}

// A Watch is one watch on its connection. It is the sink of a session of the store: the session's
// goroutine writes, the connection's goroutine reads, and what they share is below.
type Watch struct {
	conn   Conn
	events writer

	initialDone func() // called once, when the initial events have gone out, or never will

	begun   atomic.Bool    // Start was called: the connection is the watch's
	started sync.WaitGroup // until the head has been sent, or has failed to be
	headErr error          // of sending the head; set before started is over
	done    chan struct{}  // closed by Done
	// writeFailed is set by the session's goroutine before done is closed: nothing more can
	// be written.
	writeFailed bool

	mu      sync.Mutex // guards the rest
	session request.Session
	stopped bool
	refusal *meta.Status // sent as the last event; nil if there is no error to report
}

// New makes a watch on a connection. It waits until Start before it writes.
func New(c Conn, e Encoder, f Framing) *Watch {
	w := &Watch{conn: c, events: writer{encoder: e, framing: f}, done: make(chan struct{})}
	w.started.Add(1)
	return w
}

// OnInitialDone sets what is called when the initial events have gone out, or never will. It is set before the session begins,
// and may be called many times.
func (w *Watch) OnInitialDone(f func()) { w.initialDone = f }

// InitialDone implements request.InitialSink.
func (w *Watch) InitialDone() {
	if w.initialDone != nil {
		w.initialDone()
	}
}

// Attach gives the watch the session that feeds it.
func (w *Watch) Attach(session request.Session) {
	w.mu.Lock()
	w.session = session
	stopped := w.stopped
	w.mu.Unlock()
	if stopped {
		session.Stop()
	}
}

// Fail ends a watch whose session could not begin: its only event is an ERROR with that Status.
func (w *Watch) Fail(status *meta.Status) {
	w.mu.Lock()
	w.refusal = status
	w.mu.Unlock()
	w.Done()
}

// Stop ends the session soon. It may be called many times, by anybody.
func (w *Watch) Stop() {
	w.mu.Lock()
	session := w.session
	w.stopped = true
	w.mu.Unlock()
	if session != nil {
		session.Stop()
	}
}

// Start sends the head of the answer, so that the client knows at once that it watches, and then lets
// events through.
func (w *Watch) Start(head []byte) {
	w.begun.Store(true)
	_, w.headErr = w.conn.Write(head)
	w.started.Done()
}

// Events implements request.Sink: it writes events in one go.
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

// Done implements request.Sink: the session has ended. It wakes Run, which reads.
func (w *Watch) Done() {
	w.InitialDone()
	close(w.done)
	interruptRead(w.conn)
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// interruptRead makes a Read that waits, and every later one, return a timeout. There is no other way
// to wake a goroutine from a Read without closing its connection.
func interruptRead(c net.Conn) {
	_ = c.SetReadDeadline(longAgo) // fails only if the connection is closed, which ends a Read too
}

// maxClientInput is how many bytes a client may send into its watch.
const maxClientInput = 64 << 10

var errUnexpectedInput = errors.New("a client writes into its watch")

// Run reads until the client has gone, the time is over or the session has ended; then it
// waits for the session, ends the answer, calls atEnd and closes the connection.
func (w *Watch) Run(timeout time.Duration, atEnd func()) {
	defer func() { _ = w.conn.Close() }() // nobody is left to tell
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
		// The client sees a clean end; if it has gone meanwhile nobody is left to tell.
		_, _ = w.conn.Write([]byte("0\r\n\r\n"))
	}
}

// readUntilEnd reads until there is a reason to end the watch.
func (w *Watch) readUntilEnd() error {
	select {
	case <-w.done: // before Run has set its deadline, which has undone that of Done
		return os.ErrDeadlineExceeded
	default:
	}
	if w.events.framing == WebSocket {
		return readFrames(w.conn)
	}
	return discardInput(w.conn)
}

// discardInput reads what the client has no reason to send, to notice when it goes. The buffer is there only while
// something comes: most clients send nothing for as long as they watch.
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

// isTimeout tells that a deadline has passed, which ends a watch in order.
func isTimeout(err error) bool {
	var fault net.Error
	return errors.As(err, &fault) && fault.Timeout()
}

// sendRefusal sends the ERROR event of a watch that failed or was revoked.
func (w *Watch) sendRefusal() error {
	w.mu.Lock()
	refusal := w.refusal
	w.mu.Unlock()
	if refusal == nil {
		return nil
	}
	return w.events.write(w.conn, []request.Event{{Type: request.Error, Status: refusal}})
}

// Revoke implements LongRunning: the last event is a Status that says why. What the client has not read by then
// is lost.
func (w *Watch) Revoke(refusal *meta.Status) {
	w.mu.Lock()
	w.refusal = refusal
	w.mu.Unlock()
	w.Stop()
	time.AfterFunc(revokeGrace, w.ForceClose)
}

// ForceClose implements LongRunning: it closes the connection of a watch that has not ended. Before Start the connection still belongs
// to the request, which may be answered by an error and followed by another one.
func (w *Watch) ForceClose() {
	if !w.begun.Load() {
		return
	}
	select {
	case <-w.done:
	default:
		_ = w.conn.Close() // nobody reads, and nobody is left to tell
	}
}
