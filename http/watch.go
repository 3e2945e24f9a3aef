package http

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// watch starts a session of the store and hands the connection over to it. What is known
// to be wrong before the first event is answered like any other error.
func (s *Server) watch(x *exchange) error {
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
			w.Fields, err = singleObject(x.kind, name)
		case !ok || selected != name:
			err = badRequest("fieldSelector metadata.name doesn't match requested name")
		}
		if err != nil {
			return err
		}
	}
	events, err := s.newEventEncoder(x)
	if err != nil {
		return err
	}
	st := newStream(x.ctx.Conn(), events)
	if st.head, err = s.watchHead(x, events); err != nil {
		return err
	}
	if !s.streams.add(st) {
		return shuttingDown()
	}
	defer func() {
		if !x.hijacked {
			s.streams.remove(st)
		}
	}()
	life := s.watchTime(o.timeout)
	wait := &patience{deadline: x.start.Add(life)}
	defer wait.stop()
	session, err := s.opts.Store.Watch(wait, w, st)
	if err != nil {
		return err
	}
	st.attach(session)
	s.guard.join(st, s.access(x))
	s.hijack(x, st, life)
	return nil
}

// watchTime is the life of a watch: what is asked for, but no more than what one may get that asks
// for nothing.
func (s *Server) watchTime(asked time.Duration) time.Duration {
	least := s.opts.Limits.MinRequestTimeout
	if asked > 0 {
		return min(asked, 2*least)
	}
	return least + rand.N(least)
}

// hijack gives the connection to the stream: when the handler has returned, who reads gets a
// goroutine of its own.
func (s *Server) hijack(x *exchange, st *stream, life time.Duration) {
	x.hijacked = true
	s.metrics.watches.Add(1)
	recordEnd := x.recordWatch(st.code())
	st.onEnd = func() {
		s.metrics.watches.Add(-1)
		recordEnd()
		s.guard.leave(st)
		s.streams.remove(st)
	}
	x.conn.stream.Store(st)
	x.conn.hijack(func(c net.Conn) { st.run(c, life) })
	st.start()
}

// watchHead is the head of the answer to a watch. The connection ends with the watch, and
// a client that were not told would send its next request into it.
func (s *Server) watchHead(x *exchange, events *eventEncoder) ([]byte, error) {
	if events.socket {
		return s.socketHead(x)
	}
	b := make([]byte, 0, 256)
	b = append(b, "HTTP/1.1 200 OK\r\nDate: "...)
	b = time.Now().UTC().AppendFormat(b, "Mon, 02 Jan 2006 15:04:05 GMT")
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, events.contentType()...)
	b = appendHead(b, x)
	b = append(b, "\r\nCache-Control: no-cache, private\r\nConnection: close\r\n"...)
	if !events.plain {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	return append(b, "\r\n"...), nil
}

// appendHead appends the headers that every answer has, and the warnings.
func appendHead(b []byte, x *exchange) []byte {
	b = append(b, "\r\nAudit-Id: "...)
	b = append(b, x.id...)
	b = appendTransport(b, &x.ctx.Response.Header)
	for _, text := range fitting(x.warnings) {
		b = append(b, "\r\nWarning: 299 - \""...)
		b = append(b, warningText(text)...)
		b = append(b, '"')
	}
	return b
}

// A stream is one watch on its connection. It is the sink of a session: the session's
// goroutine writes, the connection's goroutine reads, and what they share is below.
type stream struct {
	conn   net.Conn
	events *eventEncoder
	head   []byte // of the answer; sent before anything else
	onEnd  func()

	started sync.WaitGroup // until the head has been sent, or has failed to be
	done    chan struct{}  // closed by Done
	failed  error          // of sending the head; set before started is over

	// broken is set by the session's goroutine before done is closed: nothing more can
	// be written.
	broken bool

	mu      sync.Mutex // guards the rest
	session request.Session
	stopped bool
	refusal *meta.Status // why the watch ends, if that is to be said

	access *access // that the watch runs by; the guard's
}

func newStream(c net.Conn, events *eventEncoder) *stream {
	st := &stream{conn: c, events: events, done: make(chan struct{})}
	st.started.Add(1)
	return st
}

// code is the HTTP status of the answer.
func (st *stream) code() int {
	if st.events.socket {
		return 101
	}
	return 200
}

// attach gives the stream the session that feeds it.
func (st *stream) attach(session request.Session) {
	st.mu.Lock()
	st.session = session
	stopped := st.stopped
	st.mu.Unlock()
	if stopped {
		session.Stop()
	}
}

// stop ends the session soon. It may be called many times, by anybody.
func (st *stream) stop() {
	st.mu.Lock()
	session := st.session
	st.stopped = true
	st.mu.Unlock()
	if session != nil {
		session.Stop()
	}
}

// start sends the head, so that the client knows at once that it watches.
func (st *stream) start() {
	_, st.failed = st.conn.Write(st.head)
	st.head = nil
	st.started.Done()
}

// Events writes events in one go, as one chunk for every maxChunk bytes.
func (st *stream) Events(events []request.Event) error {
	st.started.Wait()
	if st.failed != nil {
		st.broken = true
		return st.failed
	}
	err := st.events.write(st.conn, events)
	st.broken = st.broken || err != nil
	return err
}

// Done ends the stream and wakes up who reads.
func (st *stream) Done() {
	close(st.done)
	// An error means that the connection is closed, which wakes it up too.
	_ = st.conn.SetReadDeadline(time.Unix(1, 0))
}

// maxNoise is how many bytes a client may send into its watch.
const maxNoise = 64 << 10

var errNoise = errors.New("http: a client writes into its watch")

// run reads until the client has gone, the time is over or the session has ended; then it
// waits for the session, ends the answer and closes the connection.
func (st *stream) run(c net.Conn, life time.Duration) {
	defer func() { _ = c.Close() }() // nobody is left to tell
	defer st.onEnd()
	err := c.SetReadDeadline(time.Now().Add(life))
	if err == nil {
		err = st.listen(c)
	}
	st.stop()
	<-st.done
	if st.broken || st.failed != nil {
		return
	}
	if st.refuse(c) != nil {
		return
	}
	if st.events.socket {
		st.endSocket(c, err)
	} else if isTimeout(err) && !st.events.plain {
		// The client sees a clean end; if it has gone meanwhile nobody is left to tell.
		_, _ = c.Write([]byte("0\r\n\r\n"))
	}
}

// refuse sends the last event of a watch that its client may not have any longer.
func (st *stream) refuse(c net.Conn) error {
	st.mu.Lock()
	refusal := st.refusal
	st.mu.Unlock()
	if refusal == nil {
		return nil
	}
	return st.events.write(c, []request.Event{{Type: request.Error, Status: refusal}})
}

// listen reads until there is a reason to end the watch.
func (st *stream) listen(c net.Conn) error {
	if !st.events.socket {
		return st.read(c)
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

// read reads what nobody is waiting for, to notice the end.
func (st *stream) read(c net.Conn) error {
	var buf [64]byte // on the heap for as long as the watch
	for noise := 0; noise < maxNoise; {
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
		noise += n
	}
	return errNoise
}
