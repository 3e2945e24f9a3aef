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
	buf     *bufio.Writer
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
	return w.conn.Write(b)
}

func (w *responseWriter) writeResponse(answer *fasthttp.Response) error {
	err := answer.Write(w.buf)
	if err == nil {
		err = w.buf.Flush()
	}
	return err
}

// writeResponse writes the answer. What cannot be made, and has not begun to go out, becomes an answer
// that says so.
func (c *Conn) writeResponse(ctx *fasthttp.RequestCtx) error {
	r, pool := &ctx.Response, responseWriters
	if !r.IsBodyStream() && len(r.Body()) <= maxSmallBody {
		pool = smallResponseWriters
	}
	w := pool.Get().(*responseWriter)
	w.conn, w.started = c, false
	w.buf.Reset(w)
	err := w.writeResponse(r)
	if err != nil && !w.started && !errors.Is(err, net.ErrClosed) {
		w.buf.Reset(w)
		c.handler.ReplaceUnwritable(r)
		err = w.writeResponse(r)
	}
	w.conn = nil
	w.buf.Reset(nil)
	pool.Put(w)
	return err
}
