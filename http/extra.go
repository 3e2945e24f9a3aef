package http

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
)

const typeBytes = "application/octet-stream"

// An Extra is a further fixed path. A GET of it is authorized like any path that is no
// resource, and answered by what Write writes, while it writes it. Its error is logged and
// cuts the answer.
type Extra struct {
	ContentType string // "" is application/octet-stream
	Write       func(io.Writer) error
}

// extra answers one route of Options.Extra. The body goes out while it is made, so its
// error comes too late for a Status: the answer is cut before its last chunk, which
// clients tell from a whole one.
func (s *Server) extra(path string, e Extra) func(*exchange) error {
	contentType := cmp.Or(e.ContentType, typeBytes)
	return func(x *exchange) error {
		x.header("X-Content-Type-Options", "nosniff")
		x.ctx.Response.Header.SetContentType(contentType)
		x.ctx.Response.SetBodyStream(writerBody{&extraBody{s, path, e.Write}}, -1)
		return nil
	}
}

// extraChunk is how many bytes are gathered before they are sent.
const extraChunk = 64 << 10

// An extraBody writes itself on the goroutine of its connection, after the handler.
type extraBody struct {
	server *Server
	path   string
	write  func(io.Writer) error
}

// WriteTo logs errors and panics and answers them, which closes the connection.
func (b *extraBody) WriteTo(w io.Writer) (n int64, err error) {
	counted := &countingWriter{to: w}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
			b.server.log.Error("http: panic while streaming", "path", b.path, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
		} else if err != nil {
			b.server.log.Error("http: a streamed answer was cut", "path", b.path, "bytes", counted.n, "error", err)
		}
		n = counted.n
	}()
	buffered := bufio.NewWriterSize(counted, extraChunk)
	if err := b.write(buffered); err != nil {
		return 0, err
	}
	return 0, buffered.Flush()
}

// A countingWriter counts what it passes on.
type countingWriter struct {
	to io.Writer
	n  int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}
