package wire

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A BodyStream is the body of the request that is being answered, for one who passes it on while it comes. It may be
// read by another goroutine than the connection's, such as that of a client of another server, until Stop.
//
// When all of the body has come it goes on to look whether the client is still there: who waits for another server
// would not notice otherwise.
type BodyStream struct {
	conn *Conn
	gone func() // the client has gone

	stopped atomic.Bool
	whole   atomic.Bool // all of it has come

	reading sync.Mutex // held while something is read from the connection, but for by watch
	watch   sync.WaitGroup

	answer   sync.Mutex // guards answered, and what is sent before the answer
	answered bool
}

var errBodyStopped = errors.New("the request is over")

// StreamBody begins to pass the body on. gone is called when the client closes its connection before Stop, or breaks
// its body off.
func (c *Conn) StreamBody(gone func()) *BodyStream {
	b := &BodyStream{conn: c, gone: gone}
	b.reading.Lock()
	defer b.reading.Unlock()
	if c.body.done {
		b.end()
	}
	return b
}

// Read implements io.Reader. The client may take its time for each piece, but not for nothing.
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

// readPiece reads what has come, but not beyond the present chunk.
func (b *BodyStream) readPiece(p []byte) (n int, err error) {
	c, in := b.conn, &b.conn.body
	if err := b.sendContinue(); err != nil {
		return 0, err
	}
	if err := c.extendRead(c.all.opts.ReadTimeout); err != nil {
		return 0, err
	}
	if b.stopped.Load() {
		return 0, errBodyStopped // before Stop's deadline was undone
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

// sendContinue lets the client begin, unless the answer has begun: nothing may come between its parts.
func (b *BodyStream) sendContinue() error {
	b.answer.Lock()
	defer b.answer.Unlock()
	if b.answered {
		return nil
	}
	return b.conn.sendContinue()
}

// Close implements io.Closer, for those who close what they have read. Stop is what ends it.
func (b *BodyStream) Close() error { return nil }

// BeginAnswer notes that the answer begins, and tells whether all of the body has come. If not, the connection
// has to end with the answer.
func (b *BodyStream) BeginAnswer() (whole bool) {
	b.answer.Lock()
	defer b.answer.Unlock()
	b.answered = true
	return b.whole.Load()
}

// Stop gives the connection back: nothing is read any more when it returns.
func (b *BodyStream) Stop() {
	b.stopped.Store(true)
	_ = b.conn.Conn.SetReadDeadline(longAgo) // fails only if it is closed, which ends a Read too
	b.reading.Lock()                         // a Read that had begun is over
	defer b.reading.Unlock()
	b.watch.Wait()
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// end notes that all of the body has come, and begins to look after the client.
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

// awaitInput waits for the beginning of another request, and leaves it to be read.
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

// extendRead gives the client some time to send something while its request is being answered; 0: no bound.
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
