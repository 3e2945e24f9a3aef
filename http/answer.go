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
)

const (
	// smallAnswer is the size, in bytes, up to which an answer is made in one piece and handed
	// to the connection at once.
	smallAnswer = 64 << 10
	// gzipFrom is the size, in bytes, from which answers are compressed for clients that accept it.
	gzipFrom = 128 << 10
	// pieceSize is how many bytes a client gets before its time is looked at.
	pieceSize = 64 << 10
)

// The memory, in bytes, that an answer takes while it is written, and that of compressing it.
const (
	answerRoom = writeBuffer + 2*pieceSize
	gzipRoom   = 1 << 20
)

// leastPace is how many bytes a second a client has to take of an answer, on the average, once
// the write timeout has passed.
const leastPace = 32 << 10

var errSlowReader = errors.New("http: the client takes its answer too slowly")

// An answer is a body that writes itself, piece by piece. It keeps the request in flight until
// it is written, or the connection has ended. Where write fails the connection is closed before
// the end of the body, so that no client takes a part for the whole; unless nothing has gone out yet,
// when there is another answer.
type answer struct {
	write func(io.Writer) error
	size  int // in bytes; -1: not known beforehand
	hold  hold
	log   *slog.Logger
	path  string
	id    string // of the request
	// grace is how long a client may take before its pace counts; 0: it never does.
	grace time.Duration
}

// stream answers with a body that writes itself. about is its size as far as it is known.
func (s *Server) stream(x *exchange, contentType string, a *answer, about int) {
	if about >= gzipFrom && x.wantsGzip() {
		x.header("Content-Encoding", "gzip")
		x.header("Vary", "Accept-Encoding")
		a.write, a.size = compressed(a.write), -1
	}
	if a.size < 0 && !x.ctx.Request.Header.IsHTTP11() { // which does not know of chunks
		var n counter
		_ = a.write(&n) // it will fail again
		a.size = int(n)
	}
	a.grace = s.opts.Limits.WriteTimeout
	s.send(x, contentType, a)
}

// send answers with a body that writes itself, as it is and however long that takes.
func (s *Server) send(x *exchange, contentType string, a *answer) {
	a.hold, x.hold = x.hold, hold{}
	a.log, a.path, a.id = s.log, x.info.Path, x.id
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyStream(a, a.size)
}

func (x *exchange) wantsGzip() bool {
	return x.ctx.Request.Header.HasAcceptEncoding("gzip")
}

// A counter counts what is written.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// SupportsBodyWriteTo tells fasthttp to call WriteTo and never Read.
func (a *answer) SupportsBodyWriteTo() bool { return true }

// Read is not called.
func (a *answer) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// WriteTo writes the body.
func (a *answer) WriteTo(w io.Writer) (n int64, err error) {
	p := pacer{to: w, begun: time.Now(), grace: a.grace}
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
func (a *answer) Close() error {
	a.hold.release()
	return nil
}

// A pacer passes on what is written in pieces, each of which has a deadline of the connection,
// and gives up a client that keeps to all of these but takes for ever.
type pacer struct {
	to      io.Writer
	n, seen int64 // bytes written, and those of them when the time was last looked at
	begun   time.Time
	grace   time.Duration
	err     error // of the connection
}

func (p *pacer) Write(b []byte) (written int, err error) {
	for len(b) > pieceSize && p.err == nil {
		n := p.pass(b[:pieceSize])
		written, b = written+n, b[n:]
	}
	if p.err == nil {
		written += p.pass(b)
	}
	return written, p.err
}

// pass passes on a piece.
func (p *pacer) pass(b []byte) (n int) {
	n, p.err = p.to.Write(b)
	if p.n += int64(n); p.n-p.seen < pieceSize || p.err != nil {
		return n
	}
	p.seen = p.n
	if late := time.Since(p.begun) - p.grace; p.grace > 0 && late > 0 && p.n < int64(late.Seconds()*leastPace) {
		p.err = errSlowReader
	}
	return n
}

// gathered writes what write makes in pieces that are worth a chunk each.
func gathered(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		g := newGatherer(w)
		defer g.release()
		if err := write(g); err != nil {
			return err
		}
		return g.flush()
	}
}

// A gatherer gathers small writes in a buffer that is shared over time.
type gatherer struct {
	to  io.Writer
	buf *[]byte
}

func newGatherer(w io.Writer) *gatherer {
	g := &gatherer{to: w, buf: chunks.Get().(*[]byte)}
	*g.buf = (*g.buf)[:0]
	return g
}

func (g *gatherer) Write(b []byte) (int, error) {
	if len(*g.buf)+len(b) > pieceSize {
		if err := g.flush(); err != nil {
			return 0, err
		}
		if len(b) >= pieceSize {
			return g.to.Write(b)
		}
	}
	*g.buf = append(*g.buf, b...)
	return len(b), nil
}

func (g *gatherer) flush() error {
	if len(*g.buf) == 0 {
		return nil
	}
	_, err := g.to.Write(*g.buf)
	*g.buf = (*g.buf)[:0]
	return err
}

func (g *gatherer) release() { putChunk(g.buf) }

// compressors wait to be used: each has large tables.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}}

// compressed writes what write makes as gzip.
func compressed(write func(io.Writer) error) func(io.Writer) error {
	return gathered(func(w io.Writer) error {
		z := compressors.Get().(*gzip.Writer)
		defer func() {
			z.Reset(io.Discard)
			compressors.Put(z)
		}()
		z.Reset(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	})
}

// oneBuffer is what write makes, in one piece. It is for small answers.
func oneBuffer(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
