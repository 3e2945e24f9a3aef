package wire

import (
	"bytes"
	"container/list"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// A stream is a net.Conn that carries one HTTP/2 request and its response in HTTP/1.1 form. It is
// reused for later requests of the connection. At most one goroutine reads from it at a time, and
// at most one writes to it.
type stream struct {
	mux     *multiplexer
	conn    *Conn // of the request
	w       responseControl
	r       *http.Request
	unknown *list.Element // in unknownStreams; nil once the user is known

	// For reading:
	headBuf, head []byte // request head: all, and unread
	chunk         []byte // unread part of the current chunk, for a body of unknown length
	ended         bool   // the last chunk was produced

	// For writing:
	answer answerReader
	lift   *time.Timer // see limitWrites

	mu         sync.Mutex // guards the fields below, and w after the end of the request
	closed     bool
	readOps    operationCount // of body reads
	writeOps   operationCount
	readUntil  time.Time
	writeUntil time.Time
	changed    chan struct{} // closed on change; nil: no waiter
	lifted     bool          // by lift
}

// An operationCount counts both starts and ends of an operation, so it is odd while the operation
// runs. A timer compares counts, so that it affects only the operation for which it was set.
type operationCount uint64

func (t operationCount) underWay() bool { return t%2 == 1 }

type responseControl interface {
	http.ResponseWriter
	FlushError() error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

func (s *stream) begin(w responseControl, r *http.Request) {
	s.w, s.r = w, r
	s.headBuf = appendHead(s.headBuf[:0], r)
	s.head, s.chunk, s.ended = s.headBuf, s.chunk[:0], r.ContentLength >= 0
	s.answer = answerReader{head: s.answer.head[:0], bodiless: r.Method == http.MethodHead}
	s.mu.Lock()
	s.closed, s.lifted = false, false
	s.mu.Unlock()
}

// limitWrites applies net/http's write deadline to short requests, by removing it only after half
// of the write timeout.
func (s *stream) limitWrites() {
	half := s.mux.conn.all.opts.WriteTimeout / 2
	if s.lift == nil {
		s.lift = time.AfterFunc(half, s.liftWriteDeadline)
		return
	}
	s.lift.Reset(half)
}

func (s *stream) liftWriteDeadline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.lifted = true
		_ = s.w.SetWriteDeadline(time.Time{}) // fails only if the stream has ended
	}
}

// appendHead appends the request head in HTTP/1.1 form. net/http has already rejected line breaks
// in values, invalid names, and connection headers. net/http uses the first of several lengths or
// hosts. appendHead appends all, so that the request is rejected as in HTTP/1.1.
func appendHead(b []byte, r *http.Request) []byte {
	b = append(append(b, r.Method...), ' ')
	if r.Method == http.MethodConnect {
		b = append(b, r.Host...)
	} else {
		b = append(b, r.RequestURI...)
	}
	b = append(append(b, " HTTP/1.1\r\nHost: "...), r.Host...)
	for name, values := range r.Header {
		if name == "Content-Length" || name == "Host" && len(values) == 1 && values[0] == r.Host {
			continue
		}
		for _, value := range values {
			b = append(append(append(append(b, "\r\n"...), name...), ": "...), value...)
		}
	}
	lengths := r.Header["Content-Length"]
	for _, value := range lengths {
		b = append(append(b, "\r\nContent-Length: "...), value...)
	}
	switch length := strconv.FormatInt(r.ContentLength, 10); {
	case r.ContentLength < 0:
		b = append(b, "\r\nTransfer-Encoding: chunked"...)
	case len(lengths) > 0 && lengths[0] != length: // malformed, or contradicts the end of the stream
		b = append(append(b, "\r\nContent-Length: "...), length...)
	}
	return append(b, "\r\n\r\n"...)
}

// Read reads the request in HTTP/1.1 form. At its end, it waits for a disconnect or the deadline.
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

// maxStreamChunk is the maximum chunk size for a body of unknown length, in bytes.
const maxStreamChunk = 16 << 10

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

func (s *stream) readBody(b []byte) (int, error) {
	s.mu.Lock()
	s.readOps++
	until, count := s.readUntil, s.readOps
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.readOps++
	}()
	if !until.IsZero() {
		timer := time.AfterFunc(time.Until(until), func() { s.expireRead(count) })
		defer timer.Stop()
	}
	return s.r.Body.Read(b)
}

func (s *stream) expireRead(count operationCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOps == count && !s.closed {
		_ = s.w.SetReadDeadline(longAgo) // fails only if the stream has ended
	}
}

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

// watchChanges returns a channel that is closed when a write ends, the read deadline changes, or
// the stream is closed. The caller holds mu.
func (s *stream) watchChanges() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// signalChange closes the channel that watchChanges returned. The caller holds mu.
func (s *stream) signalChange() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Write writes a part of the response. It flushes chunked data immediately.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return 0, net.ErrClosed
	}
	s.writeOps++
	until, count := s.writeUntil, s.writeOps
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.writeOps++
		s.signalChange()
	}()
	if !until.IsZero() {
		timer := time.AfterFunc(time.Until(until), func() { s.expireWrite(count) })
		defer timer.Stop()
	}
	err := s.answer.write(s.w, b)
	if err == nil && s.answer.whole() && !s.answer.bodiless && !s.conn.authenticated.Load() {
		err = s.w.FlushError() // net/http would block later, where the request no longer counts
	}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *stream) expireWrite(count operationCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writeOps == count {
		s.interruptWrite()
	}
}

// interruptWrite makes the current Write fail. The caller holds mu.
func (s *stream) interruptWrite() { _ = s.w.SetWriteDeadline(longAgo) } // fails only if the stream has ended

// Close closes the stream. Pending operations fail.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.closed = true
	if s.writeOps.underWay() {
		s.interruptWrite()
	}
	s.signalChange()
	return nil
}

// awaitRelease blocks until the handler no longer uses the stream. If again is set, the handler has
// already returned. Otherwise, the stream was hijacked and will be closed.
func (s *stream) awaitRelease(again bool) {
	for !again {
		s.mu.Lock()
		released := s.closed && !s.writeOps.underWay()
		changed := s.watchChanges()
		s.mu.Unlock()
		if released {
			return
		}
		<-changed
	}
}

// finish ends the response and reports whether it is complete. The client then has at least half of
// WriteTimeout to receive it. If again is set, finish drops large buffers, because the stream will
// be reused.
func (s *stream) finish(again bool) bool {
	if s.lift != nil {
		s.lift.Stop()
	}
	s.mu.Lock()
	s.closed = true // until the next request
	lifted := s.lifted
	s.mu.Unlock()
	whole := s.answer.whole()
	if lifted && whole && s.r.Context().Err() == nil { // otherwise the deadline would outlive the stream
		_ = s.w.SetWriteDeadline(time.Now().Add(s.mux.conn.all.opts.WriteTimeout)) // fails only if the stream has ended
	}
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

func (s *stream) LocalAddr() net.Addr { return s.mux.conn.raw.LocalAddr() }

func (s *stream) RemoteAddr() net.Addr { return s.mux.conn.raw.RemoteAddr() }

func (s *stream) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline sets the deadline for the pending read and later reads. A pending read of the
// body is interrupted only by a deadline that has already passed.
func (s *stream) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readUntil = t
	if s.readOps.underWay() && !s.closed && !t.IsZero() && time.Until(t) <= 0 {
		_ = s.w.SetReadDeadline(longAgo) // fails only if the stream has ended
	}
	s.signalChange()
	return nil
}

// SetWriteDeadline sets the deadline for later writes, not for a pending one.
func (s *stream) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeUntil = t
	return nil
}

// An answerReader parses the HTTP/1.1 response of a stream and forwards it to net/http.
type answerReader struct {
	head      []byte // received part of the head
	headDone  bool
	bodiless  bool  // no body, regardless of the head
	chunked   bool  // the body comes in chunks
	remaining int64 // of the body or the current chunk
	state     chunkState
}

type chunkState uint8

const (
	inSize   chunkState = iota // in the chunk size
	inData                     // in the data
	behind                     // in the line break after the data
	trailing                   // in the empty line after the last chunk
	complete
)

var errMalformedAnswer = errors.New("a response is malformed")

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

func (a *answerReader) readHead(w http.ResponseWriter, head []byte) error {
	status, rest, _ := bytes.Cut(head, []byte("\r\n"))
	_, status, _ = bytes.Cut(status, []byte(" "))
	text, _, _ := bytes.Cut(status, []byte(" "))
	code, err := strconv.Atoi(string(text))
	if err != nil || code < 100 || code > 999 {
		return errMalformedAnswer
	}
	if code < 200 {
		return nil // net/http sends 100 Continue itself
	}
	to := w.Header()
	to["Content-Type"] = nil // no content sniffing
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

func (a *answerReader) whole() bool {
	if a.chunked {
		return a.state == complete
	}
	return a.headDone && a.remaining == 0
}
