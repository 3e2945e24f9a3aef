package http

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// watch starts a session of the store and hands the connection over to it. What is known
// to be wrong before the first event is answered like any other error.
func (s *Server) watch(x *requestContext) error {
	o, err := s.parseListOptions(x.kind, x.query, true)
	if err != nil {
		return err
	}
	w, err := o.watchRequest(x.kind, &x.info, s.opts.Store.Version)
	if err != nil {
		return err
	}
	if name := x.info.Name; name != "" {
		selected, ok := o.fields.Name()
		switch {
		case o.fields.Empty():
			w.Fields, err = nameSelector(x.kind, name)
		case !ok || selected != name:
			err = apierrors.BadRequest("fieldSelector metadata.name doesn't match requested name")
		}
		if err != nil {
			return err
		}
	}
	events, err := s.newEventEncoder(x)
	if err != nil {
		return err
	}
	st := newWatchStream(x.ctx.Conn(), events)
	if st.head, err = s.watchHead(x, events); err != nil {
		return err
	}
	if !s.watchStreams.add(st) {
		return apierrors.ShuttingDown()
	}
	defer func() {
		if !x.hijacked {
			s.watchStreams.remove(st)
		}
	}()
	timeout := s.watchTimeout(o.timeout)
	deadline := &lazyDeadline{deadline: x.start.Add(timeout)}
	defer deadline.stop()
	session, err := s.opts.Store.Watch(deadline, w, st)
	if err != nil {
		return err
	}
	st.attach(session)
	s.reauthorizer.add(st, s.newWatchGrant(x))
	s.hijack(x, st, timeout)
	return nil
}

// watchTimeout is the life of a watch: what is asked for, but no more than what one may get that asks
// for nothing.
func (s *Server) watchTimeout(asked time.Duration) time.Duration {
	least := s.opts.Limits.MinRequestTimeout
	if asked > 0 {
		return min(asked, 2*least)
	}
	return least + rand.N(least)
}

// hijack gives the connection to the stream: when the handler has returned, who reads gets a
// goroutine of its own.
func (s *Server) hijack(x *requestContext, st *watchStream, timeout time.Duration) {
	x.hijacked = true
	s.metrics.watches.Add(1)
	recordEnd := x.auditWatch(st.statusCode())
	st.onEnd = func() {
		s.metrics.watches.Add(-1)
		recordEnd()
		s.reauthorizer.remove(st)
		s.watchStreams.remove(st)
	}
	x.conn.SetOnClose(st.stop)
	x.conn.Hijack(func(c net.Conn) { st.run(c, timeout) })
	st.sendHead()
}

// watchHead is the head of the answer to a watch. The connection ends with the watch, and
// a client that were not told would send its next request into it.
func (s *Server) watchHead(x *requestContext, events *eventEncoder) ([]byte, error) {
	if events.webSocket {
		return s.webSocketHead(x)
	}
	b := make([]byte, 0, 256)
	b = append(b, "HTTP/1.1 200 OK\r\nDate: "...)
	b = time.Now().UTC().AppendFormat(b, "Mon, 02 Jan 2006 15:04:05 GMT")
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, events.contentType()...)
	b = appendCommonHeaders(b, x)
	b = append(b, "\r\nCache-Control: no-cache, private\r\nConnection: close\r\n"...)
	if !events.unchunked {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	return append(b, "\r\n"...), nil
}

// appendCommonHeaders appends the headers that every answer has, and the warnings.
func appendCommonHeaders(b []byte, x *requestContext) []byte {
	b = append(b, "\r\nAudit-Id: "...)
	b = append(b, x.auditID...)
	b = appendTransportHeaders(b, &x.ctx.Response.Header)
	for _, text := range truncateWarnings(x.warnings) {
		b = append(b, "\r\nWarning: 299 - \""...)
		b = append(b, warningText(text)...)
		b = append(b, '"')
	}
	return b
}

// A stream is one watch on its connection. It is the sink of a session: the session's
// goroutine writes, the connection's goroutine reads, and what they share is below.
type watchStream struct {
	conn   net.Conn
	events *eventEncoder
	head   []byte // of the answer; sent before anything else
	onEnd  func()

	started sync.WaitGroup // until the head has been sent, or has failed to be
	done    chan struct{}  // closed by Done
	headErr error          // of sending the head; set before started is over

	// writeFailed is set by the session's goroutine before done is closed: nothing more can
	// be written.
	writeFailed bool

	mu      sync.Mutex // guards the rest
	session request.Session
	stopped bool
	refusal *meta.Status // why the watch ends, if that is to be said

	grant *watchGrant // that the watch runs by; the guard's
}

func newWatchStream(c net.Conn, events *eventEncoder) *watchStream {
	st := &watchStream{conn: c, events: events, done: make(chan struct{})}
	st.started.Add(1)
	return st
}

// statusCode is the HTTP status of the answer.
func (st *watchStream) statusCode() int {
	if st.events.webSocket {
		return 101
	}
	return 200
}

// attach gives the stream the session that feeds it.
func (st *watchStream) attach(session request.Session) {
	st.mu.Lock()
	st.session = session
	stopped := st.stopped
	st.mu.Unlock()
	if stopped {
		session.Stop()
	}
}

// stop ends the session soon. It may be called many times, by anybody.
func (st *watchStream) stop() {
	st.mu.Lock()
	session := st.session
	st.stopped = true
	st.mu.Unlock()
	if session != nil {
		session.Stop()
	}
}

// sendHead sends the head, so that the client knows at once that it watches.
func (st *watchStream) sendHead() {
	_, st.headErr = st.conn.Write(st.head)
	st.head = nil
	st.started.Done()
}

// Events writes events in one go, as one chunk for every maxChunk bytes.
func (st *watchStream) Events(events []request.Event) error {
	st.started.Wait()
	if st.headErr != nil {
		st.writeFailed = true
		return st.headErr
	}
	err := st.events.write(st.conn, events)
	st.writeFailed = st.writeFailed || err != nil
	return err
}

// Done ends the stream and wakes up who reads.
func (st *watchStream) Done() {
	close(st.done)
	// An error means that the connection is closed, which wakes it up too.
	_ = st.conn.SetReadDeadline(time.Unix(1, 0))
}

// maxClientInput is how many bytes a client may send into its watch.
const maxClientInput = 64 << 10

var errUnexpectedInput = errors.New("http: a client writes into its watch")

// run reads until the client has gone, the time is over or the session has ended; then it
// waits for the session, ends the answer and closes the connection.
func (st *watchStream) run(c net.Conn, timeout time.Duration) {
	defer func() { _ = c.Close() }() // nobody is left to tell
	defer st.onEnd()
	err := c.SetReadDeadline(time.Now().Add(timeout))
	if err == nil {
		err = st.readUntilEnd(c)
	}
	st.stop()
	<-st.done
	if st.writeFailed || st.headErr != nil {
		return
	}
	if st.sendRefusal(c) != nil {
		return
	}
	if st.events.webSocket {
		st.closeWebSocket(c, err)
	} else if isTimeout(err) && !st.events.unchunked {
		// The client sees a clean end; if it has gone meanwhile nobody is left to tell.
		_, _ = c.Write([]byte("0\r\n\r\n"))
	}
}

// sendRefusal sends the last event of a watch that its client may not have any longer.
func (st *watchStream) sendRefusal(c net.Conn) error {
	st.mu.Lock()
	refusal := st.refusal
	st.mu.Unlock()
	if refusal == nil {
		return nil
	}
	return st.events.write(c, []request.Event{{Type: request.Error, Status: refusal}})
}

// readUntilEnd reads until there is a reason to end the watch.
func (st *watchStream) readUntilEnd(c net.Conn) error {
	if !st.events.webSocket {
		return st.discardInput(c)
	}
	select {
	case <-st.done: // before run has set its deadline, which has undone that of Done
		return os.ErrDeadlineExceeded
	default:
		return st.readFrames(c)
	}
}

// isTimeout tells that a deadline has passed, which ends a watch in order.
func isTimeout(err error) bool {
	var fault net.Error
	return errors.As(err, &fault) && fault.Timeout()
}

// discardInput reads what nobody is waiting for, to notice the end.
func (st *watchStream) discardInput(c net.Conn) error {
	var buf [64]byte // on the heap for as long as the watch
	for total := 0; total < maxClientInput; {
		select {
		case <-st.done:
			if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
				return err
			}
		default:
		}
		n, err := c.Read(buf[:])
		if err != nil {
			return err
		}
		total += n
	}
	return errUnexpectedInput
}
