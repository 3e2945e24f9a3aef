package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// A requestBody is the body of a request. ReadBody reads it after authorization, so a body that is
// announced but not sent uses no memory.
type requestBody struct {
	remaining       int64 // unread bytes of the body or current chunk
	chunked         bool
	chunkCount      int  // started chunks
	expectsContinue bool // the client waits for 100 Continue
	done            bool // fully read
	framingLost     bool // its end is unknown
	buf             *[]byte
	limit           int64 // in bytes
	principal       *limits.Principal
	reserved        bool  // the principal may use the reserve
	held            int64 // bytes acquired from the principal
	started         time.Time
	reclaimed       atomic.Bool // for a principal that holds less
}

func (in *requestBody) start(h *fasthttp.RequestHeader) {
	n := h.ContentLength()
	*in = requestBody{remaining: int64(max(n, 0)), chunked: n == -1, done: n == 0 || n < -1}
	if !in.done && h.IsHTTP11() {
		in.expectsContinue = bytes.EqualFold(h.Peek("Expect"), []byte("100-continue"))
	}
}

// maxDiscard is how many unread body bytes are discarded at most to keep the connection open.
const maxDiscard = 256 << 10

// canDiscard reports whether to discard the unread rest of the body or to close the connection.
func (c *Conn) canDiscard() bool {
	in := &c.body
	return c.authenticated.Load() && !in.chunked && !in.expectsContinue && in.remaining <= maxDiscard
}

func (c *Conn) discardBody() error {
	in := &c.body
	if c.stream != nil {
		c.releaseReader(true) // the body ends with its stream
		return nil
	}
	if int64(c.reader.Buffered()) < in.remaining {
		if err := c.setPhase(phaseDiscarding, lingerTime); err != nil {
			return err
		}
	}
	_, err := c.reader.Discard(int(in.remaining))
	return err
}

// ReadBody reads a body of at most limit bytes. The buffer grows with the received bytes. The
// result is valid until the response is written. If reserved is set, the body may use the memory
// that is reserved for privileged users. The error is a *limits.Rejection or a *meta.Status.
func (c *Conn) ReadBody(limit int64, reserved bool) ([]byte, error) {
	in := &c.body
	if in.buf == nil && !in.done {
		if !in.chunked && in.remaining > limit {
			return nil, apierrors.RequestTooLarge(limit)
		}
		in.limit, in.principal, in.reserved = limit, c.principal, reserved
		withdraw := func() {}
		if !reserved && c.BodyPending() {
			in.started = time.Now()
			withdraw = in.principal.Offer(limits.RequestBytes, incompleteBody{c})
		}
		c.scheduled = true
		err := c.sendContinue()
		if err == nil {
			err = c.fillBody()
		}
		c.scheduled = false
		if withdraw(); in.reclaimed.Load() {
			err = in.principal.Reject(limits.RequestBytes, in.held)
		}
		if err != nil {
			in.framingLost = true
			in.free()
			return nil, bodyError(err)
		}
		c.markRequestSeen()
		c.releaseReader(false)
	}
	if in.buf == nil {
		return nil, nil
	}
	return *in.buf, nil
}

// An incompleteBody is the limits.Item for a body that has not arrived completely.
type incompleteBody struct{ *Conn }

// slowBodyTime is the time after which an incomplete body is slow. If memory is short, slow bodies
// are discarded first.
const slowBodyTime = time.Second

func (b incompleteBody) Idle() bool { return time.Since(b.body.started) > slowBodyTime }

func (b incompleteBody) Reclaim() {
	b.body.reclaimed.Store(true)
	_ = b.Conn.Conn.SetReadDeadline(longAgo) // fails only if closed, which ends Read too
}

// ReceivedBody returns the number of received bytes of the body, and whether it is complete.
func (c *Conn) ReceivedBody() (size int64, whole bool) { return c.body.size(), c.body.done }

// BodyPending reports whether part of the body may not have arrived yet.
func (c *Conn) BodyPending() bool {
	in := &c.body
	return !in.done && (in.chunked || int64(c.reader.Buffered()) < in.remaining)
}

func (c *Conn) sendContinue() error {
	if !c.body.expectsContinue {
		return nil
	}
	c.body.expectsContinue = false
	if c.reader.Buffered() > 0 {
		return nil // the client has not waited
	}
	_, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
	return err
}

func (c *Conn) fillBody() error {
	in := &c.body
	for {
		if in.remaining == 0 {
			if !in.chunked {
				in.done = true
				return nil
			}
			if err := c.nextChunk(); err != nil || in.done {
				return err
			}
		}
		if in.size()+in.remaining > in.limit {
			return apierrors.RequestTooLarge(in.limit)
		}
		if err := in.grow(); err != nil {
			return err
		}
		b := *in.buf
		n, err := c.reader.Read(b[len(b):min(int64(cap(b)), int64(len(b))+in.remaining)])
		*in.buf = b[:len(b)+n]
		if in.remaining -= int64(n); err != nil && in.remaining > 0 {
			return err
		}
	}
}

func (in *requestBody) size() int64 {
	if in.buf == nil {
		return 0
	}
	return int64(len(*in.buf))
}

func (c *Conn) nextChunk() error {
	in := &c.body
	if in.chunkCount > 0 {
		if line, err := c.readLine(); err != nil || len(line) > 0 {
			return malformedChunk(err)
		}
	}
	in.chunkCount++
	line, err := c.readLine()
	if err != nil {
		return malformedChunk(err)
	}
	if in.remaining, err = parseChunkSize(line); err != nil || in.remaining > 0 {
		return err
	}
	if line, err = c.readLine(); err != nil || len(line) > 0 {
		if err == nil {
			err = apierrors.BadRequest("the request has trailers")
		}
		return malformedChunk(err)
	}
	in.done = true
	return nil
}

// maxChunkLine is the maximum length of the line that precedes a chunk, in bytes.
const maxChunkLine = 256

var errMalformedChunk = errors.New("a chunk is malformed")

func (c *Conn) readLine() ([]byte, error) {
	b, err := c.reader.ReadSlice('\n')
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxChunkLine || len(b) < 2 || b[len(b)-2] != '\r':
		return nil, errMalformedChunk
	}
	return b[:len(b)-2], nil
}

func malformedChunk(err error) error {
	var netErr net.Error
	var status *meta.Status
	if errors.As(err, &netErr) || errors.As(err, &status) {
		return err
	}
	return apierrors.BadRequest("a chunk of the body is malformed")
}

// parseChunkSize parses the line that precedes a chunk. It ignores extensions.
func parseChunkSize(line []byte) (n int64, err error) {
	digits, extension, _ := bytes.Cut(line, []byte(";"))
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 8 {
		return 0, malformedChunk(nil)
	}
	size, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil {
		return 0, malformedChunk(nil)
	}
	for _, e := range extension {
		if e < ' ' && e != '\t' || e == 0x7f {
			return 0, malformedChunk(nil)
		}
	}
	return int64(size), nil
}

// bodyError converts a read error of the body to a Status. The connection must then close, because
// the end of the body is unknown.
func bodyError(err error) error {
	var status *meta.Status
	var netErr net.Error
	var rejection *limits.Rejection
	switch {
	case errors.As(err, &status):
		return status
	case errors.As(err, &rejection):
		return rejection
	case errors.As(err, &netErr) && netErr.Timeout():
		return apierrors.RequestTimeout()
	}
	return apierrors.BadRequest("the body of the request ended early")
}
