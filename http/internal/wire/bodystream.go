package wire

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A BodyStream streams the body of the current request. Until Stop, another goroutine may read it,
// such as that of an HTTP client.
//
// After the end of the body, the stream detects client disconnects, even while the request waits
// for a backend.
type BodyStream struct {
	conn *Conn
	gone func() // called when the client disconnects

	stopped atomic.Bool
	whole   atomic.Bool // the whole body was received

	reading sync.Mutex // held during reads of the connection, except by watch
	watch   sync.WaitGroup

	answer   sync.Mutex // guards answered and the bytes sent before the response
	answered bool
}

var errBodyStopped = errors.New("the request has ended")

// StreamBody returns a stream of the body. The stream calls gone if the client disconnects before
// Stop, or if the body ends early.
func (c *Conn) StreamBody(gone func()) *BodyStream {
	b := &BodyStream{conn: c, gone: gone}
	b.reading.Lock()
	defer b.reading.Unlock()
	if c.body.done {
		b.end()
	}
	return b
}

// Read reads a part of the body. Each Read may take ReadTimeout.
func (b *BodyStream) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	in := &b.conn.body
	switch {
	case b.stopped.Load():
		return 0, errBodyStopped
	case in.done:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	n, err := b.readPiece(p)
	if in.done {
		b.end()
	}
	if err != nil && err != io.EOF {
		in.framingLost = true
		if !b.stopped.Load() {
			b.gone()
		}
	}
	return n, err
}

// readPiece reads available bytes of the body, up to the end of the current chunk.
func (b *BodyStream) readPiece(p []byte) (n int, err error) {
	c, in := b.conn, &b.conn.body
	if err := b.sendContinue(); err != nil {
		return 0, err
	}
	if err := c.extendRead(c.all.opts.ReadTimeout); err != nil {
		return 0, err
	}
	if b.stopped.Load() {
		return 0, errBodyStopped // extendRead may have undone Stop's deadline
	}
	if in.remaining == 0 {
		if err := c.nextChunk(); err != nil {
			return 0, err
		}
		if in.done {
			return 0, io.EOF
		}
	}
	n, err = c.reader.Read(p[:min(int64(len(p)), in.remaining)])
	if in.remaining -= int64(n); in.remaining == 0 && !in.chunked {
		in.done = true
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *BodyStream) sendContinue() error {
	b.answer.Lock()
	defer b.answer.Unlock()
	if b.answered {
		return nil
	}
	return b.conn.sendContinue()
}

// Close does nothing, so that an HTTP client cannot end the stream. Use Stop.
func (b *BodyStream) Close() error { return nil }

// BeginAnswer marks the start of the response. It reports whether the whole body was received. If
// not, the connection must close after the response.
func (b *BodyStream) BeginAnswer() (whole bool) {
	b.answer.Lock()
	defer b.answer.Unlock()
	b.answered = true
	return b.whole.Load()
}

// Stop ends the stream. Once it returns, the stream no longer reads from the connection.
func (b *BodyStream) Stop() {
	b.stopped.Store(true)
	_ = b.conn.Conn.SetReadDeadline(longAgo) // fails only if closed, which ends Read too
	b.reading.Lock()                         // waits for a pending Read
	defer b.reading.Unlock()
	b.watch.Wait()
}

var longAgo = time.Unix(1, 0)

func (b *BodyStream) end() {
	b.whole.Store(true)
	if b.conn.extendRead(0) != nil || b.stopped.Load() {
		return
	}
	b.watch.Go(func() {
		err := b.conn.awaitInput()
		var netErr net.Error
		if err != nil && !b.stopped.Load() && !(errors.As(err, &netErr) && netErr.Timeout()) {
			b.gone()
		}
	})
}

func (c *Conn) awaitInput() error {
	if c.reader != nil {
		_, err := c.reader.Peek(1)
		return err
	}
	n, err := c.Read(c.firstByte[:])
	if n > 0 {
		c.unread = c.firstByte[:n]
		return nil
	}
	return err
}

// extendRead sets the read deadline of the active request. A timeout of 0 removes the deadline.
func (c *Conn) extendRead(timeout time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing && (timeout == 0 || timeout > closeGrace):
		return nil // beginClose has set a deadline
	case timeout == 0:
		return c.Conn.SetReadDeadline(time.Time{})
	}
	return c.Conn.SetReadDeadline(time.Now().Add(timeout))
}
