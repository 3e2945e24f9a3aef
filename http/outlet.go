package http

import (
	"bufio"
	"errors"
	"net"
	"sync"

	"github.com/valyala/fasthttp"
)

// The sizes of what an answer is gathered in, which is held only while answering: the large one
// fits whole TLS records, the small one all that strangers get.
const (
	writeBuffer = 32 << 10
	smallBuffer = 2 << 10
)

// smallBody is the size, in bytes, up to which a body is written from a small buffer.
const smallBody = smallBuffer / 2

// An outlet writes an answer to its connection, and knows whether any of it has gone out.
type outlet struct {
	to    *conn
	begun bool
	buf   *bufio.Writer
}

var (
	outlets      = outletsOf(writeBuffer)
	smallOutlets = outletsOf(smallBuffer)
)

func outletsOf(size int) *sync.Pool {
	return &sync.Pool{New: func() any {
		o := new(outlet)
		o.buf = bufio.NewWriterSize(o, size)
		return o
	}}
}

// Write implements io.Writer for the buffer.
func (o *outlet) Write(b []byte) (int, error) {
	o.begun = true
	return o.to.Write(b)
}

func (o *outlet) send(answer *fasthttp.Response) error {
	err := answer.Write(o.buf)
	if err == nil {
		err = o.buf.Flush()
	}
	return err
}

// send writes the answer. What cannot be made, and has not begun to go out, becomes an answer
// that says so.
func (c *conn) send(ctx *fasthttp.RequestCtx) error {
	r, pool := &ctx.Response, outlets
	if !r.IsBodyStream() && len(r.Body()) <= smallBody {
		pool = smallOutlets
	}
	o := pool.Get().(*outlet)
	o.to, o.begun = c, false
	o.buf.Reset(o)
	err := o.send(r)
	if err != nil && !o.begun && !errors.Is(err, net.ErrClosed) {
		o.buf.Reset(o)
		instead(r)
		err = o.send(r)
	}
	o.to = nil
	o.buf.Reset(nil)
	pool.Put(o)
	return err
}

// instead makes an answer one that says that it could not be made.
func instead(r *fasthttp.Response) {
	r.ResetBody()
	r.Header.Del("Content-Encoding")
	r.Header.Del("Vary")
	r.Header.SetContentType(typeJSON)
	f := internalError(string(r.Header.PeekBytes(headerAuditID)))
	r.SetStatusCode(f.Code)
	r.SetBodyRaw(f.AppendJSON(nil))
}
