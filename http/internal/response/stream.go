package response

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
	// MaxBuffered is the size, in bytes, up to which an answer is made in one piece and handed
	// to the connection at once.
	MaxBuffered = 64 << 10
	// MinGzipSize is the size, in bytes, from which answers are compressed for clients that accept it.
	MinGzipSize = 128 << 10
)

// The memory, in bytes, that an answer takes while it is written, and that of compressing it.
const (
	Overhead     = wire.WriteBufferSize + 2*wire.MaxWriteSize
	GzipOverhead = 1 << 20
)

// minResponseRate is how many bytes a second a client has to take of an answer, on the average, once
// the write timeout has passed.
const minResponseRate = 32 << 10

var errSlowReader = errors.New("the client takes its answer too slowly")

// A Stream is a body that writes itself, piece by piece. It keeps the request in flight until
// it is written, or the connection has ended. Where write fails the connection is closed before
// the end of the body, so that no client takes a part for the whole; unless nothing has gone out yet,
// in which case another answer takes its place.
type Stream struct {
	Write  func(io.Writer) error
	Size   int // in bytes; -1: not known beforehand
	Permit limits.Permit
	Log    *slog.Logger
	Path   string
	ID     string // of the request
	// Grace is how long a client may take before its pace counts; 0: it never does.
	Grace time.Duration
}

// byteCounter counts what is written.
type byteCounter int

func (c *byteCounter) Write(b []byte) (int, error) {
	*c += byteCounter(len(b))
	return len(b), nil
}

// Measure is how many bytes write makes.
func Measure(write func(io.Writer) error) (int, error) {
	var n byteCounter
	err := write(&n)
	return int(n), err
}

// SupportsBodyWriteTo tells fasthttp to call WriteTo and never Read.
func (a *Stream) SupportsBodyWriteTo() bool { return true }

// Read is there for fasthttp, which takes a body for an io.Reader. It is not called.
func (a *Stream) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// WriteTo writes the body.
func (a *Stream) WriteTo(w io.Writer) (n int64, err error) {
	p := minRateWriter{to: w, start: time.Now(), grace: a.Grace}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
			a.Log.Error("panic while streaming", "id", a.ID, "path", a.Path, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
		} else if err != nil && p.err == nil {
			a.Log.Error("a streamed answer was cut", "id", a.ID, "path", a.Path, "bytes", p.n, "error", err)
		}
		n = p.n
	}()
	return 0, a.Write(&p)
}

// Close is called when the answer is written, or will not be.
func (a *Stream) Close() error {
	a.Permit.Release()
	return nil
}

// A minRateWriter passes on what is written in pieces, each of which has a deadline of the connection,
// and gives up a client that meets each deadline but takes too long for the whole.
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

// Buffered writes what write makes in pieces that are worth a chunk each.
func Buffered(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		g := newPooledWriter(w)
		defer g.release()
		if err := write(g); err != nil {
			return err
		}
		return g.flush()
	}
}

// A pooledWriter gathers small writes in a buffer that is shared over time.
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

// gzipWriters are used again, for each has large tables.
var gzipWriters = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}}

// Gzipped writes what write makes as gzip.
func Gzipped(write func(io.Writer) error) func(io.Writer) error {
	return Buffered(func(w io.Writer) error {
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

// Collect is what write makes, in one piece. It is for small answers.
func Collect(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
