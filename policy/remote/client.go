package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// A Client sends requests to one remote service. It is safe for concurrent use.
type Client struct {
	url        string // target of Post and base of Get
	maxAnswer  int    // maximum bytes of a response to Ask
	httpClient *http.Client
}

// Load returns the Client for the kubeconfig at path. Errors contain the path and the cause.
func Load(path string) (*Client, error) {
	return LoadRules(kubeconfig.Rules{Path: path})
}

// LoadRules returns the Client for the kubeconfig that rules select.
func LoadRules(rules kubeconfig.Rules) (*Client, error) {
	c, err := rules.Load()
	if err != nil {
		return nil, err
	}
	return newClient(c.Server.String(), c.Transport(newTransport)), nil
}

// Options describes a remote service without a kubeconfig.
type Options struct {
	URL string
	// TLS contains the trusted CAs and the client certificate.
	TLS *tls.Config
	// Dial opens connections. If it is nil, the client connects to the host of URL without a proxy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Credential returns the credential for the next request, or nil. Client certificates belong in
	// TLS, unless a credential plugin provides them.
	Credential func() *kubeconfig.Credential
	// MaxIdle limits the number of idle connections. The default is 16.
	MaxIdle int
	// MaxAnswer limits a response to Ask, in bytes. The default is 3 MiB.
	MaxAnswer int
}

// New returns a Client for the service described by o.
func New(o Options) *Client {
	credential := o.Credential
	if credential == nil {
		credential = func() *kubeconfig.Credential { return nil }
	}
	c := newClient(o.URL, kubeconfig.NewTransport(o.transport, credential))
	c.maxAnswer = cmp.Or(o.MaxAnswer, maxResponseSize)
	return c
}

func (o Options) transport() *http.Transport {
	t := newTransport()
	t.TLSClientConfig = o.TLS.Clone()
	if o.Dial != nil {
		t.DialContext = o.Dial
	}
	if o.MaxIdle > 0 {
		t.MaxIdleConnsPerHost = o.MaxIdle
	}
	// Pings detect connections to unreachable peers.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 10 * time.Second}
	return t
}

// Close closes idle connections. Other connections close when their requests end.
func (s *Client) Close() { s.httpClient.CloseIdleConnections() }

// Response limits in bytes.
const (
	maxResponseSize       = 3 << 20
	maxResponseHeaderSize = 64 << 10
)

func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:       (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxResponseHeaderSize,
	}
}

func newClient(target string, transport http.RoundTripper) *Client {
	return &Client{url: target, maxAnswer: maxResponseSize, httpClient: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// A StatusError is the error for a response with a status code other than 200 and 201.
type StatusError struct{ Code int }

func (e *StatusError) Error() string { return fmt.Sprintf("the remote returned status %d", e.Code) }

// URL returns the URL of the service.
func (s *Client) URL() string { return s.url }

// Post sends a JSON body once and returns the response body. The error is a *StatusError for status
// codes other than 200 and 201.
func (s *Client) Post(ctx context.Context, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	answer, err := s.send(r)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	text, err := io.ReadAll(io.LimitReader(answer, maxResponseSize+1))
	switch {
	case err != nil:
		return nil, withoutURL(err)
	case len(text) > maxResponseSize:
		return nil, tooLongError(maxResponseSize)
	}
	return text, nil
}

// Get sends one request to a path below the URL. It returns the response body, which has no size
// limit and must be closed. The error is a *StatusError for status codes other than 200 and 201.
func (s *Client) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	return s.Do(ctx, http.MethodGet, path)
}

// Do is like Get, but with any method.
func (s *Client) Do(ctx context.Context, method, path string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.url, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity") // responses here hardly compress
	return s.send(r)
}

func (s *Client) send(r *http.Request) (io.ReadCloser, error) {
	answer, err := s.httpClient.Do(r)
	if err != nil {
		return nil, withoutURL(err)
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
		_, _ = io.CopyN(io.Discard, answer.Body, maxResponseSize) // allows reuse of the connection
		answer.Body.Close()
		return nil, &StatusError{answer.StatusCode}
	}
	return answer.Body, nil
}

// A tooLongError contains the limit, in bytes, that a response exceeded.
type tooLongError int

func (limit tooLongError) Error() string {
	return fmt.Sprintf("the response exceeds %d bytes", int(limit))
}

// withoutURL strips the URL from an error, because the query may contain a secret.
func withoutURL(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Backoff configures retries. Each pause is randomly extended by up to a fifth, so that clients do
// not retry at the same time.
type Backoff struct {
	Steps    int           // maximum number of retries
	Duration time.Duration // pause before the first retry
	Factor   float64       // growth of the pause
}

// DefaultBackoff is for requests on which clients wait. It allows five attempts within about five
// seconds.
var DefaultBackoff = Backoff{Steps: 4, Duration: 500 * time.Millisecond, Factor: 1.5}

// PostWithRetry retries a failed Post until it succeeds, the error is permanent, ctx ends, or no
// retries are left. A status code such as 400 is permanent.
func (s *Client) PostWithRetry(ctx context.Context, body []byte, r Backoff) ([]byte, error) {
	pause := r.Duration
	for n := 0; ; n++ {
		answer, err := s.Post(ctx, body)
		if err == nil || n == r.Steps || !isRetriable(err) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause + rand.N(pause/5+1)): // random extension, documented at Backoff
		}
		pause = time.Duration(float64(pause) * r.Factor)
	}
}

func isRetriable(err error) bool {
	var failed *StatusError
	var unproved *tls.CertificateVerificationError
	if !errors.As(err, &failed) {
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) &&
			!errors.Is(err, tooLongError(maxResponseSize)) && !errors.As(err, &unproved)
	}
	return failed.Code == http.StatusTooManyRequests || failed.Code >= 500 && failed.Code != http.StatusNotImplemented
}
