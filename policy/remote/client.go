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

// A Client sends requests to one remote. Many goroutines may use it.
type Client struct {
	url        string // where Post goes, and what the paths of Get are below
	maxAnswer  int    // most bytes of an answer to Ask
	httpClient *http.Client
}

// Load makes the Client that a client configuration file describes. Errors name the file and what is
// wrong in it.
func Load(path string) (*Client, error) {
	return LoadRules(kubeconfig.Rules{Path: path})
}

// LoadRules makes a Client from the client configuration that rules find.
func LoadRules(rules kubeconfig.Rules) (*Client, error) {
	c, err := rules.Load()
	if err != nil {
		return nil, err
	}
	return newClient(c.Server.String(), c.Transport(newTransport)), nil
}

// Options describe a remote that no client configuration file does.
type Options struct {
	URL string
	// TLS says whom to trust, and what to prove oneself with.
	TLS *tls.Config
	// Dial makes connections; nil: as the URL says, without a proxy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Credential is asked for what the next request proves itself with; nil for nothing. Client certificates that do not come from
	// a program are a matter of TLS.
	Credential func() *kubeconfig.Credential
	// MaxIdle bounds the connections that are kept while nothing is asked [16].
	MaxIdle int
	// MaxAnswer bounds the answers to Ask, in bytes [3 MiB].
	MaxAnswer int
}

// New makes the Client of a remote.
func New(o Options) *Client {
	credential := o.Credential
	if credential == nil {
		credential = func() *kubeconfig.Credential { return nil }
	}
	c := newClient(o.URL, kubeconfig.NewTransport(o.transport, credential))
	c.maxAnswer = cmp.Or(o.MaxAnswer, maxResponseSize)
	return c
}

// transport is what connections are made with.
func (o Options) transport() *http.Transport {
	t := newTransport()
	t.TLSClientConfig = o.TLS.Clone()
	if o.Dial != nil {
		t.DialContext = o.Dial
	}
	if o.MaxIdle > 0 {
		t.MaxIdleConnsPerHost = o.MaxIdle
	}
	// A connection whose other end is gone without a word is found out.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 10 * time.Second}
	return t
}

// Close closes the connections that are kept. Those in use are closed when they are not any more.
func (s *Client) Close() { s.httpClient.CloseIdleConnections() }

// Bounds of an answer, in bytes.
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

// A StatusError is an answer with another code than 200 and 201.
type StatusError struct{ Code int }

func (e *StatusError) Error() string { return fmt.Sprintf("the remote answered %d", e.Code) }

// URL is where the remote is, as the configuration has it.
func (s *Client) URL() string { return s.url }

// Post sends a body of JSON, once, and returns the body of the answer. The error is a *StatusError if the remote has answered with another code than 200 and 201.
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

// Get requests a path below the URL, once. It returns the body as a stream without a bound, which the
// caller closes. The error is a *StatusError if the remote has answered with another code than 200 and 201.
func (s *Client) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	return s.Do(ctx, http.MethodGet, path)
}

// Do is Get with another method.
func (s *Client) Do(ctx context.Context, method, path string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.url, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity") // what is got here hardly compresses
	return s.send(r)
}

// send sends a request and returns the body of the answer, if that is 200 or 201.
func (s *Client) send(r *http.Request) (io.ReadCloser, error) {
	answer, err := s.httpClient.Do(r)
	if err != nil {
		return nil, withoutURL(err)
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
		_, _ = io.CopyN(io.Discard, answer.Body, maxResponseSize) // so that the connection can be used again
		answer.Body.Close()
		return nil, &StatusError{answer.StatusCode}
	}
	return answer.Body, nil
}

// A tooLongError says that an answer is longer than so many bytes.
type tooLongError int

func (limit tooLongError) Error() string {
	return fmt.Sprintf("the remote's answer is longer than %d bytes", int(limit))
}

// withoutURL is an error without the URL, whose query may hold a secret.
func withoutURL(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Backoff says how often a request is repeated, and with which pauses. To each pause up to a fifth is
// added at random, so that many clients do not repeat at the same time.
type Backoff struct {
	Steps    int           // most repetitions, after the first request
	Duration time.Duration // pause before the first repetition
	Factor   float64       // by which the pause grows
}

// DefaultBackoff is for requests that a client waits for: five in about five seconds.
var DefaultBackoff = Backoff{Steps: 4, Duration: 500 * time.Millisecond, Factor: 1.5}

// PostWithRetry repeats a Post that failed, until it succeeds, the context or the repetitions end, or
// a repetition would fail as well, as after 400.
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
		case <-time.After(pause + rand.N(pause/5+1)): // see Backoff
		}
		pause = time.Duration(float64(pause) * r.Factor)
	}
}

// isRetriable tells whether a repetition of the request may succeed.
func isRetriable(err error) bool {
	var failed *StatusError
	var unproved *tls.CertificateVerificationError
	if !errors.As(err, &failed) {
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) &&
			!errors.Is(err, tooLongError(maxResponseSize)) && !errors.As(err, &unproved)
	}
	return failed.Code == http.StatusTooManyRequests || failed.Code >= 500 && failed.Code != http.StatusNotImplemented
}
