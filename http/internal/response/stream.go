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
	// MaxBuffered is the maximum size in bytes of a response that is built in memory.
	MaxBuffered = 64 << 10
	// MinGzipSize is the minimum size in bytes of a response to compress, if the client accepts
	// gzip.
	MinGzipSize = 128 << 10
)

// The memory for writing and compressing a response, in bytes.
const (
	Overhead     = wire.WriteBufferSize + 2*wire.MaxWriteSize
	GzipOverhead = 1 << 20
)

// minResponseRate is the average rate, in bytes per second, at which a client must read after the
// grace period.
const minResponseRate = 32 << 10

var errSlowReader = errors.New("the client reads the response too slowly")

// A Stream is a body that writes itself in pieces. It holds its permit until it is written or the
// connection ends. If Write fails before the first byte was sent, an error response is sent
// instead. Later, the connection closes before the end of the body, so that clients detect the
// failure.
type Stream struct {
	Write  func(io.Writer) error
	Size   int // in bytes; -1: unknown
	Permit limits.Permit
	Log    *slog.Logger
	Path   string
	ID     string // of the request
	// Grace is the time after which the minimum rate is enforced. 0 means never.
	Grace time.Duration
}

type byteCounter int

func (c *byteCounter) Write(b []byte) (int, error) {
	*c += byteCounter(len(b))
	return len(b), nil
}

// Measure returns the number of bytes that write produces.
func Measure(write func(io.Writer) error) (int, error) {
	var n byteCounter
	err := write(&n)
	return int(n), err
}

// SupportsBodyWriteTo makes fasthttp call WriteTo instead of Read.
func (a *Stream) SupportsBodyWriteTo() bool { return true }

// Read makes Stream an io.Reader. fasthttp never calls it, because it calls WriteTo instead.
func (a *Stream) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (a *Stream) WriteTo(w io.Writer) (n int64, err error) {
	p := minRateWriter{to: w, start: time.Now(), grace: a.Grace}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
			a.Log.Error("panic while streaming", "id", a.ID, "path", a.Path, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
		} else if err != nil && p.err == nil {
			a.Log.Error("a streamed response was cut off", "id", a.ID, "path", a.Path, "bytes", p.n, "error", err)
		}
		n = p.n
	}()
	return 0, a.Write(&p)
}

// Close releases the permit. fasthttp calls it after it has sent the response.
func (a *Stream) Close() error {
	a.Permit.Release()
	return nil
}

// A minRateWriter writes pieces of at most wire.MaxWriteSize, each with a write deadline. It fails
// if the average rate is too low.
type minRateWriter struct {
	to         io.Writer
	n, checked int64 // written, and at the last check
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

// Buffered combines small writes into large ones.
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

var gzipWriters = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // unreachable: the level is valid
	}
	return z
}}

// Gzipped compresses the output of write.
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

// Collect returns the output of write, which must be small.
func Collect(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
