package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// A stream is one request of HTTP/2 and its answer, as a connection that carries them in the form of HTTP/1.1. It is used again for
// later requests of the same connection.
//
// One goroutine reads at a time, and one writes.
type stream struct {
	mux     *multiplexer
	w       responseControl
	r       *http.Request
	unknown bool // it counts among those of which it is not known who asks

	// What is read.
	headBuf, head []byte // of the request: all of it, and what has not been read
	chunk         []byte // of a body of unknown length: what has not been read of the present chunk
	ended         bool   // the last chunk has been made

	// What is written.
	answer answerReader

	mu         sync.Mutex // guards the rest, and that nobody touches w when the request has ended
	closed     bool
	readTurn   turnOf // of reading the body
	writeTurn  turnOf
	readUntil  time.Time
	writeUntil time.Time
	changed    chan struct{} // closed when something of this has changed; nil: nobody waits
}

// A turnOf counts the beginnings and ends of something, so that a timer of one knows whether it is still under way: it is while the count is odd.
type turnOf uint64

func (t turnOf) underWay() bool { return t%2 == 1 }

// responseControl is what the protocol writes answers by.
type responseControl interface {
	http.ResponseWriter
	FlushError() error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// begin sets the stream to a new request.
func (s *stream) begin(w responseControl, r *http.Request) {
	s.w, s.r = w, r
	s.headBuf = appendHead(s.headBuf[:0], r)
	s.head, s.chunk, s.ended = s.headBuf, s.chunk[:0], r.ContentLength >= 0
	s.answer = answerReader{head: s.answer.head[:0], bodiless: r.Method == http.MethodHead}
	s.mu.Lock()
	s.closed = false
	s.mu.Unlock()
}

// appendHead appends the head of a request in the form of HTTP/1.1.
//
// The protocol has refused what this form cannot carry: line ends in values, names that are none, and fields about the connection.
func appendHead(b []byte, r *http.Request) []byte {
	b = append(append(b, r.Method...), ' ')
	if r.Method == http.MethodConnect {
		b = append(b, r.Host...)
	} else {
		b = append(b, r.RequestURI...)
	}
	b = append(append(b, " HTTP/1.1\r\nHost: "...), r.Host...)
	for name, values := range r.Header {
		if name == "Content-Length" || name == "Host" {
			continue // as the protocol has understood it
		}
		for _, value := range values {
			b = append(append(append(append(b, "\r\n"...), name...), ": "...), value...)
		}
	}
	switch {
	case r.ContentLength > 0:
		b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), r.ContentLength, 10)
	case r.ContentLength < 0:
		b = append(b, "\r\nTransfer-Encoding: chunked"...)
	case r.Header.Get("Content-Length") != "":
		b = append(b, "\r\nContent-Length: 0"...)
	}
	return append(b, "\r\n\r\n"...)
}

// Read reads the request. Behind its end it waits until the client has gone, or the deadline has passed.
func (s *stream) Read(b []byte) (int, error) {
	if len(s.head) > 0 {
		n := copy(b, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	if s.r.ContentLength < 0 && len(s.chunk) == 0 && !s.ended {
		if err := s.nextChunk(); err != nil {
			return 0, err
		}
	}
	if len(s.chunk) > 0 {
		n := copy(b, s.chunk)
		s.chunk = s.chunk[n:]
		return n, nil
	}
	if s.r.ContentLength > 0 {
		if n, err := s.readBody(b); n > 0 || err != io.EOF {
			return n, err
		}
	}
	return 0, s.awaitEnd()
}

// maxStreamChunk is how many bytes of a body of unknown length are read at once.
const maxStreamChunk = 16 << 10

// nextChunk reads some of a body of unknown length, as a chunk.
func (s *stream) nextChunk() error {
	buf := GetBuffer()
	defer PutBuffer(buf)
	if cap(*buf) < maxStreamChunk {
		*buf = make([]byte, 0, maxStreamChunk)
	}
	n, err := s.readBody((*buf)[:maxStreamChunk])
	s.chunk = s.chunk[:0]
	if n > 0 {
		s.chunk = append(strconv.AppendInt(s.chunk, int64(n), 16), "\r\n"...)
		s.chunk = append(append(s.chunk, (*buf)[:n]...), "\r\n"...)
	}
	if errors.Is(err, io.EOF) {
		s.ended = true
		s.chunk = append(s.chunk, "0\r\n\r\n"...)
		return nil
	}
	return err
}

// readBody reads from the body until the deadline.
func (s *stream) readBody(b []byte) (int, error) {
	s.mu.Lock()
	s.readTurn++
	until, turn := s.readUntil, s.readTurn
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.readTurn++
	}()
	if !until.IsZero() {
		timer := time.AfterFunc(time.Until(until), func() { s.expireRead(turn) })
		defer timer.Stop()
	}
	return s.r.Body.Read(b)
}

// expireRead ends a read of the body that waits for the client, if it still does.
func (s *stream) expireRead(turn turnOf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readTurn == turn && !s.closed {
		_ = s.w.SetReadDeadline(longAgo) // fails only if the stream has ended
	}
}

// awaitEnd waits until there is no more to wait for, and says why.
func (s *stream) awaitEnd() error {
	gone := s.r.Context().Done()
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return net.ErrClosed
		}
		changed := s.watchChanges()
		until := s.readUntil
		s.mu.Unlock()
		var over <-chan time.Time
		if !until.IsZero() {
			timer := time.NewTimer(time.Until(until))
			defer timer.Stop()
			over = timer.C
		}
		select {
		case <-changed:
		case <-over:
			return os.ErrDeadlineExceeded
		case <-gone:
			return io.EOF
		}
	}
}

// watchChanges is a channel that is closed at the next change. mu is held.
func (s *stream) watchChanges() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// tellChange wakes those who wait. mu is held.
func (s *stream) tellChange() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Write takes a part of the answer. What comes in chunks is sent at once.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return 0, net.ErrClosed
	}
	s.writeTurn++
	until, turn := s.writeUntil, s.writeTurn
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.writeTurn++
		s.tellChange()
	}()
	if !until.IsZero() {
		timer := time.AfterFunc(time.Until(until), func() { s.expireWrite(turn) })
		defer timer.Stop()
	}
	if err := s.answer.write(s.w, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// expireWrite ends a Write that waits for the client, if it still does.
func (s *stream) expireWrite(turn turnOf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writeTurn == turn {
		s.interruptWrite()
	}
}

// interruptWrite ends a Write that is under way. mu is held.
func (s *stream) interruptWrite() { _ = s.w.SetWriteDeadline(longAgo) } // fails only if the stream has ended

// Close ends the connection of the request. Those who use it notice.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.closed = true
	if s.writeTurn.underWay() {
		s.interruptWrite()
	}
	s.tellChange()
	return nil
}

// awaitRelease waits until nobody uses the stream any more: at once if it can be used again, else when it has been closed.
func (s *stream) awaitRelease(again bool) {
	for !again {
		s.mu.Lock()
		released := s.closed && !s.writeTurn.underWay()
		changed := s.watchChanges()
		s.mu.Unlock()
		if released {
			return
		}
		<-changed
	}
}

// finish gives the rest of the answer to the protocol, and tells whether it is whole. From then on the client has WriteTimeout to take it.
// again: the stream is used again, so nobody else has it, and it keeps nothing large.
func (s *stream) finish(again bool) bool {
	whole := s.answer.whole()
	if whole && s.r.Context().Err() == nil { // else the client has given up, and the time would outlive the stream
		_ = s.w.SetWriteDeadline(time.Now().Add(s.mux.conn.all.opts.WriteTimeout)) // fails only if the stream has ended
	}
	s.mu.Lock()
	s.closed = true // until the next request
	s.mu.Unlock()
	if again {
		s.w, s.r, s.head, s.chunk = nil, nil, nil, nil
		if cap(s.headBuf) > readBufferSize/2 {
			s.headBuf = nil
		}
		if cap(s.answer.head) > readBufferSize/2 {
			s.answer.head = nil
		}
	}
	return whole
}

// setKnown notes that the request counts no more among those of which it is not known who asks.
func (s *stream) setKnown() {
	if s.unknown {
		s.unknown = false
		s.mux.conn.all.unknownStreams.Add(-1)
	}
}

// LocalAddr implements net.Conn.
func (s *stream) LocalAddr() net.Addr { return s.mux.conn.raw.LocalAddr() }

// RemoteAddr implements net.Conn.
func (s *stream) RemoteAddr() net.Addr { return s.mux.conn.raw.RemoteAddr() }

// SetDeadline implements net.Conn.
func (s *stream) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn. It holds for what waits already, unless that is a body: that only ends by a deadline that has passed.
func (s *stream) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readUntil = t
	if s.readTurn.underWay() && !s.closed && !t.IsZero() && time.Until(t) <= 0 {
		_ = s.w.SetReadDeadline(longAgo) // fails only if the stream has ended
	}
	s.tellChange()
	return nil
}

// SetWriteDeadline implements net.Conn. It holds from the next Write.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeUntil = t
	return nil
}

// An answerReader turns an answer in the form of HTTP/1.1 into one of HTTP/2.
type answerReader struct {
	head      []byte // what has come of the head
	headDone  bool
	bodiless  bool  // no body follows, whatever the head says
	chunked   bool  // the body comes in chunks
	remaining int64 // of the body, or of the present chunk
	state     chunkState
}

// A chunkState is where in a body of chunks the next byte is.
type chunkState uint8

const (
	inSize   chunkState = iota // of a chunk, in hexadecimal
	inData                     // remaining bytes
	behind                     // the line end behind the data
	trailing                   // the empty line behind the last chunk
	complete
)

var errMalformedAnswer = errors.New("an answer is malformed")

// write passes a part of the answer on.
func (a *answerReader) write(w responseControl, b []byte) error {
	for !a.headDone {
		head, from := b, max(0, len(a.head)-3)
		if len(a.head) > 0 {
			a.head = append(a.head, b...)
			head = a.head
		}
		end := bytes.Index(head[from:], []byte("\r\n\r\n"))
		if end < 0 {
			if len(a.head) == 0 {
				a.head = append(a.head, b...)
			}
			return nil
		}
		end += from
		b = b[len(b)-(len(head)-end-4):]
		if err := a.readHead(w, head[:end]); err != nil {
			return err
		}
		a.head = a.head[:0]
	}
	if !a.chunked {
		n := min(int64(len(b)), a.remaining)
		a.remaining -= n
		if n == 0 {
			return nil
		}
		_, err := w.Write(b[:n])
		return err
	}
	for len(b) > 0 && a.state != complete {
		var err error
		if b, err = a.readChunk(w, b); err != nil {
			return err
		}
	}
	if a.state == complete {
		return nil
	}
	return w.FlushError()
}

// readHead passes the head on, without what is about the connection.
func (a *answerReader) readHead(w http.ResponseWriter, head []byte) error {
	status, rest, _ := bytes.Cut(head, []byte("\r\n"))
	_, status, _ = bytes.Cut(status, []byte(" "))
	text, _, _ := bytes.Cut(status, []byte(" "))
	code, err := strconv.Atoi(string(text))
	if err != nil || code < 100 || code > 999 {
		return errMalformedAnswer
	}
	if code < 200 {
		return nil // the protocol says by itself that a body may come
	}
	to := w.Header()
	to["Content-Type"] = nil // not to be guessed
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return errMalformedAnswer
		}
		value = bytes.Trim(value, " \t")
		switch key := http.CanonicalHeaderKey(string(name)); key {
		case "Connection", "Keep-Alive":
		case "Transfer-Encoding":
			a.chunked = true
		case "Content-Length":
			if a.remaining, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return errMalformedAnswer
			}
			to[key] = []string{string(value)}
		default:
			to[key] = append(to[key], string(value))
		}
	}
	if a.bodiless = a.bodiless || code == http.StatusNoContent || code == http.StatusNotModified; a.bodiless {
		a.chunked, a.remaining = false, 0
	}
	a.headDone = true
	w.WriteHeader(code)
	return nil
}

// readChunk takes something of a body of chunks, and returns what is behind it.
func (a *answerReader) readChunk(w io.Writer, b []byte) ([]byte, error) {
	switch a.state {
	case inSize:
		line, rest, ok := bytes.Cut(b, []byte("\n"))
		for _, digit := range bytes.TrimSuffix(line, []byte("\r")) {
			n := bytes.IndexByte([]byte("0123456789abcdef"), digit|0x20)
			if n < 0 || a.remaining > 1<<40 {
				return nil, errMalformedAnswer
			}
			a.remaining = a.remaining<<4 | int64(n)
		}
		if !ok {
			return nil, nil
		}
		if a.state = inData; a.remaining == 0 {
			a.state = trailing
		}
		return rest, nil
	case inData:
		n := min(int64(len(b)), a.remaining)
		if _, err := w.Write(b[:n]); err != nil {
			return nil, err
		}
		if a.remaining -= n; a.remaining == 0 {
			a.state = behind
		}
		return b[n:], nil
	default:
		_, rest, ok := bytes.Cut(b, []byte("\n"))
		if ok && a.state == behind {
			a.state = inSize
		} else if ok {
			a.state = complete
		}
		return rest, nil
	}
}

// whole tells that all of the answer has come.
func (a *answerReader) whole() bool {
	if a.chunked {
		return a.state == complete
	}
	return a.headDone && a.remaining == 0
}
