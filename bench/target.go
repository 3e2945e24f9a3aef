package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

const (
	typeJSON       = "application/json"
	typeMergePatch = "application/merge-patch+json"
	typeApplyPatch = "application/apply-patch+yaml"
)

const (
	readBuffer     = 16 << 10    // bytes; the maximum length of a header line
	requestTimeout = time.Minute // for a request and for a dial
)

// Target is a server under load, with the processes whose usage counts as its cost. It must not be
// modified while it has connections.
type Target struct {
	Label     string // "" for the server itself, "against" or "floor"
	Address   string // host:port
	Prefix    string // prefix of every request path, usually ""
	TLS       *tls.Config
	Token     string // bearer token, empty for none
	Accept    string // media type of objects; "" for JSON
	Processes []int
	users     *users // of the connections, instead of Token; nil for none
	Etcd      []int  // the processes among them that are an etcd
}

// LoadTarget returns the server of the kubeconfig's current context, without Processes. Its
// connections use HTTP/1.1.
func LoadTarget(path string) (*Target, error) {
	config, err := kubeconfig.Load(path)
	if err != nil {
		return nil, err
	}
	target := &Target{TLS: config.TLS}
	if err := target.setServer(config.Server.String()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	target.TLS.NextProtos = []string{"http/1.1"}
	if target.TLS.ServerName == "" {
		target.TLS.ServerName, _, _ = net.SplitHostPort(target.Address)
	}
	// Read the credentials once, not for each connection.
	pair, err := config.Credential.Certificate(context.Background())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if target.TLS.GetClientCertificate = nil; pair != nil {
		target.TLS.Certificates = append(target.TLS.Certificates, *pair)
	}
	if target.Token, err = config.Bearer(context.Background()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return target, nil
}

func (t *Target) setServer(server string) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	if u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("server %q is not an https URL", server)
	}
	t.Address, t.Prefix = u.Host, strings.TrimSuffix(u.Path, "/")
	if u.Port() == "" {
		t.Address = net.JoinHostPort(u.Hostname(), "443")
	}
	return nil
}

func (t *Target) bearer(token string) *Target {
	other := *t
	other.TLS, other.Token = t.TLS.Clone(), token
	other.TLS.Certificates = nil
	return &other
}

func (t *Target) speaking(mediaType string) *Target {
	other := *t
	other.Accept = mediaType
	return &other
}

// Request describes an HTTP request to a Target.
type Request struct {
	Method, Path string
	Type         string // media type of Body
	Body         []byte // nil for none
	// Check validates the body of a successful response. It may be nil.
	Check func(answer []byte) error
}

func get(path string) Request { return Request{Method: http.MethodGet, Path: path} }

func remove(path string) Request { return Request{Method: http.MethodDelete, Path: path} }

func post(path, format string, args ...any) Request {
	return Request{Method: http.MethodPost, Path: path, Type: typeJSON, Body: fmt.Appendf(nil, format, args...)}
}

func patch(path, mediaType string, body []byte) Request {
	return Request{Method: http.MethodPatch, Path: path, Type: mediaType, Body: body}
}

// Conn is a keep-alive connection to a target, for one caller at a time. It dials on first use and
// after a failure. It does not retry, so that failures are counted. Response is reused to avoid
// allocations.
type Conn struct {
	Net      net.Conn
	Response fasthttp.Response
	target   *Target
	token    string
	timeout  time.Duration // of a request; 0 for requestTimeout
	r        *bufio.Reader
	w        *bufio.Writer
}

// Conn returns a new connection to the target.
func (t *Target) Conn() *Conn {
	c := &Conn{target: t, token: t.Token}
	if c.token == "" && t.users != nil {
		c.token = t.users.pick()
	}
	return c
}

// Close closes the connection. The next request reconnects.
func (c *Conn) Close() {
	if c.Net != nil {
		_ = c.Net.Close()
		c.Net = nil
	}
}

func closeAll(conns []*Conn) {
	for _, c := range conns {
		c.Close()
	}
}

// Dial connects unless c is already connected. Workloads dial before they measure, to exclude
// handshakes.
func (c *Conn) Dial(ctx context.Context) error {
	if c.Net != nil {
		return nil
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: requestTimeout}, Config: c.target.TLS}
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

// Do sends a request and reads the whole response. The body is valid until the next call. Do
// returns an error only if there is no response, so callers must check the status.
func (c *Conn) Do(r Request) (status int, answer []byte, err error) {
	if err = c.send(r); err == nil {
		err = c.Response.ReadLimitBody(c.r, 0)
	}
	if err != nil {
		c.Close()
		return 0, nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	if c.Response.ConnectionClose() {
		c.Close()
	}
	return c.Response.StatusCode(), c.Response.Body(), nil
}

// Call is like Do, but fails unless the status is 2xx and the body passes the request's check.
func (c *Conn) Call(r Request) ([]byte, error) {
	status, answer, err := c.Do(r)
	switch {
	case err != nil:
		return nil, err
	case status < http.StatusOK || status >= http.StatusMultipleChoices:
		return nil, wrongStatus(r, status, answer)
	case r.Check != nil:
		err = r.Check(answer)
	}
	return answer, err
}

func wrongStatus(r Request, status int, answer []byte) error {
	return fmt.Errorf("%s %s: status %d: %s", r.Method, r.Path, status, excerpt(answer))
}

// Watch sends a GET and returns the response body as a stream without a deadline. The connection is
// unusable for other requests until Close.
func (c *Conn) Watch(path string) (io.Reader, error) {
	err := c.send(get(path))
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	response, err := http.ReadResponse(c.r, nil)
	if err == nil && response.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		err = wrongStatus(get(path), response.StatusCode, answer)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	return response.Body, c.Net.SetDeadline(time.Time{})
}

func (c *Conn) send(r Request) error {
	if err := c.Dial(context.Background()); err != nil {
		return err
	}
	if err := c.Net.SetDeadline(time.Now().Add(cmp.Or(c.timeout, requestTimeout))); err != nil {
		return err
	}
	c.write(r.Method, " ", c.target.Prefix, r.Path, " HTTP/1.1\r\nHost: ", c.target.Address, "\r\nAccept: ", cmp.Or(c.target.Accept, typeJSON), "\r\n")
	if c.token != "" {
		c.write("Authorization: Bearer ", c.token, "\r\n")
	}
	if r.Body != nil {
		c.write("Content-Type: ", r.Type, "\r\nContent-Length: ", strconv.Itoa(len(r.Body)), "\r\n")
	}
	c.write("\r\n")
	_, _ = c.w.Write(r.Body)
	return c.w.Flush()
}

// write ignores errors, because a later Flush returns the first error.
func (c *Conn) write(parts ...string) {
	for _, part := range parts {
		_, _ = c.w.WriteString(part)
	}
}

func excerpt(answer []byte) string {
	const most = 200
	if len(answer) > most {
		return string(answer[:most]) + "…"
	}
	return string(answer)
}
