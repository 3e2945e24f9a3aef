package wire

import (
	"bufio"
	"errors"
	"net"
	"sync"

	"github.com/valyala/fasthttp"
)

// The sizes of what an answer is gathered in, which is held only while answering: the large one
// fits whole TLS records, the small one fits the errors that unknown clients get.
const (
	WriteBufferSize      = 32 << 10
	smallWriteBufferSize = 2 << 10
)

// maxSmallBody is the size, in bytes, up to which a body is written from a small buffer.
const maxSmallBody = smallWriteBufferSize / 2

// A responseWriter writes an answer to its connection, and knows whether any of it has gone out.
type responseWriter struct {
	conn    *Conn
	started bool
	// streamed: the answer is made piece by piece. Each piece needs a slot of its own, and none while it is written, for a client that reads
	// slowly must not hold one, and a large answer is not to be made before small ones.
	streamed bool
	buf      *bufio.Writer
}

var (
	responseWriters      = newResponseWriterPool(WriteBufferSize)
	smallResponseWriters = newResponseWriterPool(smallWriteBufferSize)
)

func newResponseWriterPool(size int) *sync.Pool {
	return &sync.Pool{New: func() any {
		w := new(responseWriter)
		w.buf = bufio.NewWriterSize(w, size)
		return w
	}}
}

// Write implements io.Writer for the buffer.
func (w *responseWriter) Write(b []byte) (int, error) {
	w.started = true
	if !w.streamed || !w.conn.turn.taken.Load() {
		return w.conn.Write(b)
	}
	w.conn.Pause()
	n, err := w.conn.Write(b)
	w.conn.all.scheduler.enter(w.conn)
	return n, err
}

func (w *responseWriter) writeResponse(answer *fasthttp.Response, newline bool) error {
	if !newline || answer.IsBodyStream() {
		if err := answer.Write(w.buf); err != nil {
			return err
		}
		return w.buf.Flush()
	}
	body := answer.Body()
	answer.Header.SetContentLength(len(body) + 1)
	if err := answer.Header.Write(w.buf); err != nil {
		return err
	}
	if !answer.SkipBody {
		// The buffer keeps the error of a write, and Flush returns it.
		_, _ = w.buf.Write(body)
		_ = w.buf.WriteByte('\n')
	}
	return w.buf.Flush()
}

// writeResponse writes the answer. What cannot be made, and has not begun to go out, becomes an answer
// that says so.
func (c *Conn) writeResponse(ctx *fasthttp.RequestCtx) error {
	r, pool := &ctx.Response, responseWriters
	if !r.IsBodyStream() && len(r.Body()) <= maxSmallBody {
		pool = smallResponseWriters
	}
	w := pool.Get().(*responseWriter)
	w.conn, w.started, w.streamed = c, false, r.IsBodyStream()
	w.buf.Reset(w)
	newline := c.newline
	c.newline = false
	err := w.writeResponse(r, newline)
	if err != nil && !w.started && !errors.Is(err, net.ErrClosed) {
		w.buf.Reset(w)
		c.handler.ReplaceUnwritable(r)
		err = w.writeResponse(r, false)
	}
	w.conn = nil
	w.buf.Reset(nil)
	pool.Put(w)
	return err
}
