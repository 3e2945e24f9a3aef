package wire

import (
	"bufio"
	"bytes"
	"errors"
	"sync"

	"github.com/valyala/fasthttp"
)

// A head of more than readBufferSize bytes needs a large buffer. Remote clients may use at most
// maxLargeHeads large buffers at a time.
const (
	readBufferSize      = 4 << 10
	largeReadBufferSize = 32 << 10
	maxLargeHeads       = 1024
)

var (
	readers      = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBufferSize) }}
	largeReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, largeReadBufferSize) }}
)

var (
	ErrHeadTooLarge      = errors.New("the header of a request is too large")
	ErrTooManyLargeHeads = errors.New("too many requests with large headers")
	errBareLineFeed      = errors.New("the request line does not end in CRLF")
	errEmptyLines        = errors.New("too many empty lines before a request")
)

// awaitRequest blocks until the first byte of a request arrives. Meanwhile the connection holds no
// buffer, because most connections are idle.
func (c *Conn) awaitRequest() error {
	if c.reader == nil {
		if c.requestSeen {
			if err := c.setPhase(phaseIdle, c.all.opts.IdleTimeout); err != nil {
				return err
			}
		}
		n, err := c.Read(c.firstByte[:])
		if err != nil {
			return err
		}
		c.unread = c.firstByte[:n]
		c.reader = readers.Get().(*bufio.Reader)
		c.reader.Reset(c)
	} else {
		// The request is pipelined. The slot was for the previous request, so wait for another.
		c.Pause()
		c.all.scheduler.enter(c)
	}
	return c.setPhase(phaseReading, c.all.opts.ReadTimeout)
}

// readHead reads a request head. It parses the head only when it is complete.
func (c *Conn) readHead(h *fasthttp.RequestHeader) error {
	if err := c.skipEmptyLines(); err != nil {
		return err
	}
	for from := 0; ; {
		b, err := c.reader.Peek(c.reader.Buffered())
		if err != nil {
			return err
		}
		if headEnds(b, from) {
			if line, _, _ := bytes.Cut(b, []byte("\n")); !bytes.HasSuffix(line, []byte("\r")) {
				return errBareLineFeed
			}
			return h.Read(c.reader)
		}
		if from = max(len(b)-2, 0); len(b) == c.reader.Size() {
			if err := c.growReader(b); err != nil {
				return err
			}
		}
		if _, err := c.reader.Peek(len(b) + 1); err != nil {
			return err
		}
	}
}

// maxEmptyLines is the maximum length of the empty lines before a request, in bytes.
const maxEmptyLines = 16

func (c *Conn) skipEmptyLines() error {
	for range maxEmptyLines {
		b, err := c.reader.Peek(1)
		if err != nil {
			return err
		}
		if b[0] != '\r' && b[0] != '\n' {
			return nil
		}
		if _, err := c.reader.Discard(1); err != nil {
			return err
		}
	}
	return errEmptyLines
}

func headEnds(b []byte, from int) bool {
	for {
		at := bytes.IndexByte(b[from:], '\n')
		if at < 0 {
			return false
		}
		from += at + 1
		if rest := b[from:]; len(rest) > 0 && rest[0] == '\n' || len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
			return true
		}
	}
}

// growReader replaces the reader with one that has a large buffer, and keeps the buffered input.
func (c *Conn) growReader(b []byte) error {
	if c.largeHead {
		return ErrHeadTooLarge
	}
	if c.stream == nil && !c.all.addLargeHead(c) {
		return ErrTooManyLargeHeads
	}
	c.largeHead = true
	c.unread = append(bytes.Clone(b), c.unread...)
	old := c.reader
	c.reader = largeReaders.Get().(*bufio.Reader)
	c.reader.Reset(c)
	old.Reset(nil)
	readers.Put(old)
	_, err := c.reader.Peek(len(b))
	return err
}

// releaseReader returns the reader to its pool if no input is buffered. If must is set, it discards
// buffered input.
func (c *Conn) releaseReader(must bool) {
	r := c.reader
	if r == nil || r.Buffered() > 0 && !must {
		return
	}
	c.reader = nil
	r.Reset(nil)
	if c.largeHead {
		c.largeHead = false
		if c.stream == nil {
			c.all.removeLargeHead(c)
		}
		largeReaders.Put(r)
		return
	}
	readers.Put(r)
}
