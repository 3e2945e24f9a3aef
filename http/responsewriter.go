package http

import (
	"bufio"
	"errors"
	"net"
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
)

// The sizes of what an answer is gathered in, which is held only while answering: the large one
// fits whole TLS records, the small one all that strangers get.
const (
	writeBufferSize      = 32 << 10
	smallWriteBufferSize = 2 << 10
)

// maxSmallBody is the size, in bytes, up to which a body is written from a small buffer.
const maxSmallBody = smallWriteBufferSize / 2

// An outlet writes an answer to its connection, and knows whether any of it has gone out.
type responseWriter struct {
	conn    *conn
	started bool
	buf     *bufio.Writer
}

var (
	responseWriters      = newResponseWriterPool(writeBufferSize)
	smallResponseWriters = newResponseWriterPool(smallWriteBufferSize)
)

func newResponseWriterPool(size int) *sync.Pool {
	return &sync.Pool{New: func() any {
		o := new(responseWriter)
		o.buf = bufio.NewWriterSize(o, size)
		return o
	}}
}

// Write implements io.Writer for the buffer.
func (o *responseWriter) Write(b []byte) (int, error) {
	o.started = true
	return o.conn.Write(b)
}

func (o *responseWriter) writeResponse(answer *fasthttp.Response) error {
	err := answer.Write(o.buf)
	if err == nil {
		err = o.buf.Flush()
	}
	return err
}

// writeResponse writes the answer. What cannot be made, and has not begun to go out, becomes an answer
// that says so.
func (c *conn) writeResponse(ctx *fasthttp.RequestCtx) error {
	r, pool := &ctx.Response, responseWriters
	if !r.IsBodyStream() && len(r.Body()) <= maxSmallBody {
		pool = smallResponseWriters
	}
	o := pool.Get().(*responseWriter)
	o.conn, o.started = c, false
	o.buf.Reset(o)
	err := o.writeResponse(r)
	if err != nil && !o.started && !errors.Is(err, net.ErrClosed) {
		o.buf.Reset(o)
		replaceWithError(r)
		err = o.writeResponse(r)
	}
	o.conn = nil
	o.buf.Reset(nil)
	pool.Put(o)
	return err
}

// replaceWithError makes an answer one that says that it could not be made.
func replaceWithError(r *fasthttp.Response) {
	r.ResetBody()
	r.Header.Del("Content-Encoding")
	r.Header.Del("Vary")
	r.Header.SetContentType(negotiate.TypeJSON)
	f := apierrors.InternalError(string(r.Header.PeekBytes(headerAuditID)))
	r.SetStatusCode(f.Code)
	r.SetBodyRaw(f.AppendJSON(nil))
}
