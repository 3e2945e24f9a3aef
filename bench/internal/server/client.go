package server

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

// Media types of requests and answers.
const (
	TypeJSON       = "application/json"
	TypeProtobuf   = "application/vnd.platform.protobuf"
	TypeMergePatch = "application/merge-patch+json"
	TypeApplyPatch = "application/apply-patch+yaml"
)

// readBuffer holds the longest header line that is expected of a server.
const readBuffer = 16 << 10

// Target is a server that is driven, and the processes whose cost is counted as its cost. It is copied for
// other credentials (As) and never changed while connections use it.
type Target struct {
	Label     string // how rows name it: "" for the server itself, "against", "floor"
	Address   string // host:port
	Prefix    string // path before every request path, usually empty
	TLS       *tls.Config
	Token     string        // bearer token, empty for none
	Accept    string        // media type of answers, unless a connection asks for another; "" is JSON
	Timeout   time.Duration // of one request and of a dial
	Processes []int         // process ids
	Etcd      []int         // those of them that are of an etcd
}

// Conn is one keep-alive connection to a target. It dials when it is first used and again after a failure.
// It serves one caller at a time. A failed request is not repeated: the error has to be counted, and only
// the next request dials anew. Response is reused, so a request allocates next to nothing in the client,
// whose cost would otherwise show as latency.
type Conn struct {
	target   *Target
	Net      net.Conn
	r        *bufio.Reader
	w        *bufio.Writer
	Response fasthttp.Response
	Accept   string // media types of answers; "" is that of the target
}

// Conn returns a connection that is not dialled yet.
func (t *Target) Conn() *Conn {
	return &Conn{target: t}
}

// Close ends the connection; it may be used again and dials anew.
func (c *Conn) Close() {
	if c.Net != nil {
		_ = c.Net.Close()
		c.Net = nil
	}
}

// Dial connects and shakes hands, unless the connection stands already. Workloads dial before they measure,
// so handshakes do not count.
func (c *Conn) Dial(ctx context.Context) error {
	if c.Net != nil {
		return nil
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: c.target.Timeout}, Config: c.target.TLS}
	conn, err := dialer.DialContext(ctx, "tcp", c.target.Address)
	if err != nil {
		return err
	}
	c.Net = conn
	if c.r == nil {
		c.r, c.w = bufio.NewReaderSize(conn, readBuffer), bufio.NewWriter(conn)
	}
	c.r.Reset(conn)
	c.w.Reset(conn)
	return nil
}

// Do sends one request and reads its answer whole. The returned body is valid until the next call. An error
// means that no answer came; the caller checks the status. The deadline is that of the whole request, from
// the first byte sent to the last one read.
func (c *Conn) Do(method, path, contentType string, body []byte) (int, []byte, error) {
	err := c.send(method, path, contentType, body)
	if err == nil {
		err = c.Response.ReadLimitBody(c.r, 0)
	}
	if err != nil {
		c.Close()
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if c.Response.ConnectionClose() {
		c.Close()
	}
	return c.Response.StatusCode(), c.Response.Body(), nil
}

// Expect is Do for callers that accept one status only.
func (c *Conn) Expect(status int, method, path, contentType string, body []byte) ([]byte, error) {
	got, answer, err := c.Do(method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	if got != status {
		return nil, WrongStatus(method, path, got, status, answer)
	}
	return answer, nil
}

// WrongStatus is the error of an answer with another status than the one that was wanted.
func WrongStatus(method, path string, got, want int, answer []byte) error {
	return fmt.Errorf("%s %s: status %d instead of %d: %s", method, path, got, want, Excerpt(answer))
}

// Watch sends a GET whose answer is a stream and returns that stream. The connection belongs to the stream
// from then on, without a deadline; Close ends both. net/http reads the response here, because its body
// must be read as it comes, in chunks.
func (c *Conn) Watch(path string) (io.Reader, error) {
	if err := c.send(http.MethodGet, path, "", nil); err != nil {
		c.Close()
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	response, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		c.Close()
		return nil, fmt.Errorf("watch %s: status %d: %s", path, response.StatusCode, Excerpt(answer))
	}
	return response.Body, c.Net.SetDeadline(time.Time{})
}

func (c *Conn) send(method, path, contentType string, body []byte) error {
	if err := c.Dial(context.Background()); err != nil {
		return err
	}
	if err := c.Net.SetDeadline(time.Now().Add(c.target.Timeout)); err != nil {
		return err
	}
	writeStrings(c.w, method, " ", c.target.Prefix, path, " HTTP/1.1\r\nHost: ", c.target.Address, "\r\nAccept: ", cmp.Or(c.Accept, c.target.Accept, TypeJSON), "\r\n")
	if c.target.Token != "" {
		writeStrings(c.w, "Authorization: Bearer ", c.target.Token, "\r\n")
	}
	if body != nil {
		writeStrings(c.w, "Content-Type: ", contentType, "\r\nContent-Length: ", strconv.Itoa(len(body)), "\r\n")
	}
	writeStrings(c.w, "\r\n")
	_, _ = c.w.Write(body)
	return c.w.Flush()
}

// writeStrings leaves errors to Flush, which reports the first one of a bufio.Writer.
func writeStrings(w *bufio.Writer, parts ...string) {
	for _, part := range parts {
		_, _ = w.WriteString(part)
	}
}

// Excerpt is the beginning of an answer, for an error message.
func Excerpt(answer []byte) string {
	const most = 200
	if len(answer) > most {
		return string(answer[:most]) + "…"
	}
	return string(answer)
}
