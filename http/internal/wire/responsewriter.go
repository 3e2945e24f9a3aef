package wire

import (
	"bufio"
	"errors"
	"net"
	"sync"

	"github.com/valyala/fasthttp"
)

// The sizes of write buffers, in bytes. The larger size fits whole TLS records, and the smaller one
// errors to unauthenticated clients. A connection uses a buffer only while it writes a response.
const (
	WriteBufferSize      = 32 << 10
	smallWriteBufferSize = 2 << 10
)

// maxSmallBody is the maximum size of a body that is written with a small buffer, in bytes.
const maxSmallBody = smallWriteBufferSize / 2

type responseWriter struct {
	conn    *Conn
	started bool
	// streamed means that the response is produced in pieces. Producing a piece requires a
	// scheduler slot. The slot is released while the piece is written, because the client may read
	// slowly.
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
		// Flush returns the first write error.
		_, _ = w.buf.Write(body)
		_ = w.buf.WriteByte('\n')
	}
	return w.buf.Flush()
}

// writeResponse writes the response. If this fails before the first byte is sent, it writes an
// error response instead.
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
