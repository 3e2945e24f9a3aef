package client

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/moby/spdystream"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

// A body adapts the body of an upgraded response to net.Conn.
type body struct{ io.ReadWriteCloser }

func (body) LocalAddr() net.Addr              { return nowhere{} }
func (body) RemoteAddr() net.Addr             { return nowhere{} }
func (body) SetDeadline(time.Time) error      { return nil }
func (body) SetReadDeadline(time.Time) error  { return nil }
func (body) SetWriteDeadline(time.Time) error { return nil }

type nowhere struct{}

func (nowhere) Network() string { return "tcp" }
func (nowhere) String() string  { return "the server" }

func (s *session) openStreams(path string, q url.Values, protocol string) (*spdystream.Connection, error) {
	response, err := s.Upgrade(s.ctx, rest.Request{Method: http.MethodPost, Path: path, Query: q, Header: http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1"}, "X-Stream-Protocol-Version": {protocol},
	}})
	if err != nil {
		return nil, err
	}
	conn, ok := response.Body.(io.ReadWriteCloser)
	if !ok {
		return nil, errors.New("the connection is not writable")
	}
	c, err := spdystream.NewConnection(body{conn}, false)
	if err != nil {
		conn.Close()
		return nil, err
	}
	const patience = 200 * time.Millisecond // for the server to close after Ctrl-C
	c.SetCloseTimeout(patience)
	go c.Serve(spdystream.NoOpStreamHandler)
	return c, nil
}

// openStream opens a stream of the given type and blocks until the server accepts it.
func (s *session) openStream(c *spdystream.Connection, h http.Header, kind string) (*spdystream.Stream, error) {
	head := h.Clone()
	if head == nil {
		head = http.Header{}
	}
	head.Set("streamType", kind)
	stream, err := c.CreateStream(head, nil, false)
	if err != nil {
		return nil, err
	}
	const patience = 30 * time.Second
	there := make(chan error, 1)
	go func() { there <- stream.WaitTimeout(patience) }()
	select {
	case err := <-there:
		return stream, err
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}
