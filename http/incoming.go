package http

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// An incoming is the body of a request. It stays with the client until somebody wants it, which
// is when it is known who asks, and that they may; so strangers have no memory by announcing it.
type incoming struct {
	left    int64 // bytes that have not been read, of the body or of the present chunk
	chunked bool
	chunks  int  // that have begun
	expects bool // the client waits until it is told to go on
	over    bool // all of it has been read
	broken  bool // where it ends cannot be known any more
	body    *[]byte
	taken   int64 // of the budget
}

// begin reads from a head what body there is.
func (in *incoming) begin(h *fasthttp.RequestHeader) {
	n := h.ContentLength()
	*in = incoming{left: int64(max(n, 0)), chunked: n == -1, over: n == 0 || n < -1}
	if !in.over && h.IsHTTP11() {
		in.expects = bytes.EqualFold(h.Peek("Expect"), []byte("100-continue"))
	}
}

// maxIgnored is how much of a body that nobody wants is read, so that the connection can go on.
const maxIgnored = 256 << 10

// ignorable tells whether what is left of the body can be read over.
func (in *incoming) ignorable() bool {
	return in.over || !in.broken && !in.chunked && !in.expects && in.left <= maxIgnored
}

// ignore reads over what is left of an ignorable body.
func (c *conn) ignore() error {
	in := &c.incoming
	if in.over {
		return nil
	}
	if int64(c.reader.Buffered()) < in.left {
		if err := c.enter(phaseLeaving, lingerTime); err != nil {
			return err
		}
	}
	_, err := c.reader.Discard(int(in.left))
	return err
}

// receive reads the body of a request, into memory that grows with what comes.
func (s *Server) receive(x *exchange) ([]byte, error) {
	c, most := x.conn, int64(s.opts.Limits.MaxBody)
	in := &c.incoming
	if in.body == nil && !in.over {
		if !in.chunked && in.left > most {
			return nil, s.bodyTooLarge()
		}
		if err := s.await(x, most); err != nil {
			return nil, err
		}
		c.settle()
		c.releaseReader(false)
	}
	if in.body == nil {
		return nil, nil
	}
	return *in.body, nil
}

// await reads a body of which some may still have to come. While it waits for that, the request
// is not counted among those that the server works on: it is the client who takes the time.
func (s *Server) await(x *exchange, most int64) error {
	slot := x.hold.limiter
	waits := x.conn.arriving()
	if waits && slot != nil {
		x.hold.leave()
	}
	err := x.conn.proceed()
	if err == nil {
		err = s.fill(x, most)
	}
	if err != nil {
		return x.cut(err)
	}
	if waits && slot != nil {
		if !slot.enter(s.limiters.system(x.user)) {
			return tooManyRequests()
		}
		x.hold.limiter = slot
	}
	if waits {
		return s.reserveWorkOfBody(x)
	}
	return nil
}

// arriving tells whether some of the body may still have to come.
func (c *conn) arriving() bool {
	in := &c.incoming
	return !in.over && (in.chunked || int64(c.reader.Buffered()) < in.left)
}

// proceed tells a client that waits for it to send the body.
func (c *conn) proceed() error {
	if !c.incoming.expects {
		return nil
	}
	c.incoming.expects = false
	if c.reader.Buffered() > 0 {
		return nil // it has not waited
	}
	_, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
	return err
}

// fill reads the body to its end.
func (s *Server) fill(x *exchange, most int64) error {
	c := x.conn
	in := &c.incoming
	for {
		if in.left == 0 {
			if err := c.nextPart(); err != nil || in.over {
				return err
			}
		}
		if in.size()+in.left > most {
			return s.bodyTooLarge()
		}
		if err := s.grow(x, most); err != nil {
			return err
		}
		b := *in.body
		n, err := c.reader.Read(b[len(b):min(int64(cap(b)), int64(len(b))+in.left)])
		*in.body = b[:len(b)+n]
		if in.left -= int64(n); err != nil && in.left > 0 {
			return err
		}
	}
}

// size is how much of the body has been read.
func (in *incoming) size() int64 {
	if in.body == nil {
		return 0
	}
	return int64(len(*in.body))
}

// nextPart finds out how a body goes on of which a part has ended: with another chunk, or not.
func (c *conn) nextPart() error {
	in := &c.incoming
	if !in.chunked {
		in.over = true
		return nil
	}
	if in.chunks > 0 {
		if line, err := c.line(); err != nil || len(line) > 0 {
			return malformedChunk(err)
		}
	}
	in.chunks++
	line, err := c.line()
	if err != nil {
		return malformedChunk(err)
	}
	if in.left, err = chunkSize(line); err != nil || in.left > 0 {
		return err
	}
	if line, err = c.line(); err != nil || len(line) > 0 {
		if err == nil {
			err = badRequest("the request has headers behind its body")
		}
		return malformedChunk(err)
	}
	in.over = true
	return nil
}

// maxChunkLine bounds the line before a chunk, in bytes.
const maxChunkLine = 256

var errChunk = errors.New("http: a chunk is malformed")

// line reads a line that ends in CRLF, and gives it without that.
func (c *conn) line() ([]byte, error) {
	b, err := c.reader.ReadSlice('\n')
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxChunkLine || len(b) < 2 || b[len(b)-2] != '\r':
		return nil, errChunk
	}
	return b[:len(b)-2], nil
}

// malformedChunk is the answer to a chunk that is malformed, if that is what err says.
func malformedChunk(err error) error {
	var netErr net.Error
	var status *meta.Status
	if errors.As(err, &netErr) || errors.As(err, &status) {
		return err
	}
	return badRequest("a chunk of the body is malformed")
}

// chunkSize reads the line before a chunk: its size in hexadecimal digits, and extensions, which
// nobody needs.
func chunkSize(line []byte) (n int64, err error) {
	digits, extension, _ := bytes.Cut(line, []byte(";"))
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 8 {
		return 0, malformedChunk(nil)
	}
	for _, d := range digits {
		v := hexValue(d)
		if v < 0 {
			return 0, malformedChunk(nil)
		}
		n = n<<4 | int64(v)
	}
	for _, e := range extension {
		if e < ' ' && e != '\t' || e == 0x7f {
			return 0, malformedChunk(nil)
		}
	}
	return n, nil
}

// cut is the answer to a body that did not come as it should. The connection ends with it.
func (x *exchange) cut(err error) error {
	x.conn.incoming.broken = true
	x.ctx.SetConnectionClose()
	var status *meta.Status
	var netErr net.Error
	switch {
	case errors.As(err, &status):
		return status
	case errors.As(err, &netErr) && netErr.Timeout():
		return lateRequest()
	}
	return badRequest("the body of the request has ended early")
}

func (s *Server) bodyTooLarge() error {
	return tooLarge("Request entity too large: limit is " + strconv.Itoa(s.opts.Limits.MaxBody))
}
