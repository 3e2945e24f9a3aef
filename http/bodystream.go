package http

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/wire"
)

const (
	// maxBufferedResponse is the size, in bytes, up to which an answer is made in one piece and handed
	// to the connection at once.
	maxBufferedResponse = 64 << 10
	// minGzipSize is the size, in bytes, from which answers are compressed for clients that accept it.
	minGzipSize = 128 << 10
)

// The memory, in bytes, that an answer takes while it is written, and that of compressing it.
const (
	responseOverhead = wire.WriteBufferSize + 2*wire.MaxWriteSize
	gzipOverhead     = 1 << 20
)

// minResponseRate is how many bytes a second a client has to take of an answer, on the average, once
// the write timeout has passed.
const minResponseRate = 32 << 10

var errSlowReader = errors.New("http: the client takes its answer too slowly")

// An answer is a body that writes itself, piece by piece. It keeps the request in flight until
// it is written, or the connection has ended. Where write fails the connection is closed before
// the end of the body, so that no client takes a part for the whole; unless nothing has gone out yet,
// when there is another answer.
type bodyStream struct {
	write       func(io.Writer) error
	size        int // in bytes; -1: not known beforehand
	reservation limits.Reservation
	log         *slog.Logger
	path        string
	id          string // of the request
	// grace is how long a client may take before its pace counts; 0: it never does.
	grace time.Duration
}

// writeStream answers with a body that writes itself. about is its size as far as it is known.
func (s *Server) writeStream(x *requestContext, contentType string, a *bodyStream, sizeHint int) {
	if sizeHint >= minGzipSize && x.acceptsGzip() {
		x.setHeader("Content-Encoding", "gzip")
		x.setHeader("Vary", "Accept-Encoding")
		a.write, a.size = gzipped(a.write), -1
	}
	if a.size < 0 && !x.ctx.Request.Header.IsHTTP11() { // which does not know of chunks
		var n byteCounter
		_ = a.write(&n) // it will fail again
		a.size = int(n)
	}
	a.grace = s.opts.Limits.WriteTimeout
	s.setBodyStream(x, contentType, a)
}

// setBodyStream answers with a body that writes itself, as it is and however long that takes.
func (s *Server) setBodyStream(x *requestContext, contentType string, a *bodyStream) {
	a.reservation, x.reservation = x.reservation, limits.Reservation{}
	a.log, a.path, a.id = s.log, x.info.Path, x.auditID
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyStream(a, a.size)
}

func (x *requestContext) acceptsGzip() bool {
	return x.ctx.Request.Header.HasAcceptEncoding("gzip")
}

// A counter counts what is written.
type byteCounter int

func (c *byteCounter) Write(b []byte) (int, error) {
	*c += byteCounter(len(b))
	return len(b), nil
}

// SupportsBodyWriteTo tells fasthttp to call WriteTo and never Read.
func (a *bodyStream) SupportsBodyWriteTo() bool { return true }

// Read is not called.
func (a *bodyStream) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// WriteTo writes the body.
func (a *bodyStream) WriteTo(w io.Writer) (n int64, err error) {
	p := minRateWriter{to: w, start: time.Now(), grace: a.grace}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
			a.log.Error("http: panic while streaming", "id", a.id, "path", a.path, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
		} else if err != nil && p.err == nil {
			a.log.Error("http: a streamed answer was cut", "id", a.id, "path", a.path, "bytes", p.n, "error", err)
		}
		n = p.n
	}()
	return 0, a.write(&p)
}

// Close is called when the answer is written, or will not be.
func (a *bodyStream) Close() error {
	a.reservation.Release()
	return nil
}

// A pacer passes on what is written in pieces, each of which has a deadline of the connection,
// and gives up a client that keeps to all of these but takes for ever.
type minRateWriter struct {
	to         io.Writer
	n, checked int64 // bytes written, and those of them when the time was last looked at
	start      time.Time
	grace      time.Duration
	err        error // of the connection
}

func (p *minRateWriter) Write(b []byte) (written int, err error) {
	for len(b) > wire.MaxWriteSize && p.err == nil {
		n := p.writePart(b[:wire.MaxWriteSize])
		written, b = written+n, b[n:]
	}
	if p.err == nil {
		written += p.writePart(b)
	}
	return written, p.err
}

// writePart passes on a piece.
func (p *minRateWriter) writePart(b []byte) (n int) {
	n, p.err = p.to.Write(b)
	if p.n += int64(n); p.n-p.checked < wire.MaxWriteSize || p.err != nil {
		return n
	}
	p.checked = p.n
	if late := time.Since(p.start) - p.grace; p.grace > 0 && late > 0 && p.n < int64(late.Seconds()*minResponseRate) {
		p.err = errSlowReader
	}
	return n
}

// buffered writes what write makes in pieces that are worth a chunk each.
func buffered(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		g := newPooledWriter(w)
		defer g.release()
		if err := write(g); err != nil {
			return err
		}
		return g.flush()
	}
}

// A gatherer gathers small writes in a buffer that is shared over time.
type pooledWriter struct {
	to  io.Writer
	buf *[]byte
}

func newPooledWriter(w io.Writer) *pooledWriter {
	g := &pooledWriter{to: w, buf: wire.GetBuffer()}
	*g.buf = (*g.buf)[:0]
	return g
}

func (g *pooledWriter) Write(b []byte) (int, error) {
	if len(*g.buf)+len(b) > wire.MaxWriteSize {
		if err := g.flush(); err != nil {
			return 0, err
		}
		if len(b) >= wire.MaxWriteSize {
			return g.to.Write(b)
		}
	}
	*g.buf = append(*g.buf, b...)
	return len(b), nil
}

func (g *pooledWriter) flush() error {
	if len(*g.buf) == 0 {
		return nil
	}
	_, err := g.to.Write(*g.buf)
	*g.buf = (*g.buf)[:0]
	return err
}

func (g *pooledWriter) release() { wire.PutBuffer(g.buf) }

// gzipWriters wait to be used: each has large tables.
var gzipWriters = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}}

// gzipped writes what write makes as gzip.
func gzipped(write func(io.Writer) error) func(io.Writer) error {
	return buffered(func(w io.Writer) error {
		z := gzipWriters.Get().(*gzip.Writer)
		defer func() {
			z.Reset(io.Discard)
			gzipWriters.Put(z)
		}()
		z.Reset(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	})
}

// writeToBuffer is what write makes, in one piece. It is for small answers.
func writeToBuffer(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
