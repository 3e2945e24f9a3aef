package rest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

type Client struct {
	// Namespace is the namespace of the kubeconfig's context. It may be empty.
	Namespace string
	// Timeout limits the duration of Do, including the body. 0 means no limit.
	Timeout time.Duration

	base     *url.URL
	http     *http.Client
	most     int64                 // maximum bytes of a response
	upgrade  *kubeconfig.Transport // for protocol upgrades; HTTP/1.1 only
	warnings io.Writer
	agent    string

	mu     sync.Mutex
	warned map[string]bool // warnings printed already
}

// Options configures a Client. Brackets contain defaults.
type Options struct {
	Agent    string    // the User-Agent
	Warnings io.Writer // receives the server's warnings
	MaxIdle  int       // idle connections to keep [8]
	// MaxAnswer is the maximum size of a response to Do, in bytes [1 GiB]. Lists stay far below it,
	// because they are read in pages of 500 objects.
	MaxAnswer int64
}

// New returns a Client for a kubeconfig. The Client is safe for concurrent use.
func New(c *kubeconfig.Config, o Options) *Client {
	idle := cmp.Or(o.MaxIdle, 8)
	return &Client{
		Namespace: c.Namespace, base: c.Server, agent: o.Agent, warnings: o.Warnings, warned: map[string]bool{}, most: cmp.Or(o.MaxAnswer, 1<<30),
		http: &http.Client{
			Transport:     c.Transport(func() *http.Transport { return transport(true, idle) }),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		upgrade: c.Transport(func() *http.Transport { return transport(false, idle) }),
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func transport(http2 bool, idle int) *http.Transport {
	t := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: idle, IdleConnTimeout: 90 * time.Second,
		ForceAttemptHTTP2: http2,
	}
	if !http2 {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP1(true)
	}
	return t
}

// Server returns the server's URL.
func (c *Client) Server() string { return c.base.String() }

// A Request is an HTTP request to the server. Path begins with a slash and is already escaped.
type Request struct {
	Method, Path string
	Query        url.Values
	Accept       string // [application/json]
	ContentType  string // [application/json]
	Body         []byte
	Header       http.Header
}

// Media types for patches.
const (
	MergePatch     = "application/merge-patch+json"
	StrategicPatch = "application/strategic-merge-patch+json"
	JSONPatch      = "application/json-patch+json"
	ApplyPatch     = "application/apply-patch+yaml"
)

// An Answer is a successful response.
type Answer struct {
	Code     int
	Body     []byte
	Warnings []string
}

// Tree parses the body as a JSON object.
func (a Answer) Tree() (tree.Tree, error) {
	t, err := document.Parse(a.Body)
	if err != nil {
		return nil, fmt.Errorf("the response is not a JSON object: %w", err)
	}
	return t, nil
}

// Do sends a request and reads the whole response, up to Options.MaxAnswer bytes.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	response, err := c.send(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, c.most+1))
	switch {
	case err != nil:
		return Answer{}, c.explain(ctx, err)
	case int64(len(body)) > c.most:
		return Answer{}, fmt.Errorf("the response of %s exceeds %d bytes", c.base, c.most)
	}
	return Answer{response.StatusCode, body, warningTexts(response.Header)}, nil
}

// Get reads the object at path.
func (c *Client) Get(ctx context.Context, path string, query url.Values) (tree.Tree, error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return nil, err
	}
	return answer.Tree()
}

// Stream sends a request and returns the response body, which the caller must close.
func (c *Client) Stream(ctx context.Context, r Request) (io.ReadCloser, error) {
	response, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Upgrade requests a protocol upgrade and returns the 101 response.
func (c *Client) Upgrade(ctx context.Context, r Request) (*http.Response, error) {
	request, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	response, err := c.upgrade.RoundTrip(request)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		defer response.Body.Close()
		return nil, failure(response)
	}
	return response, nil
}

// send sends a request and checks the status. After a response with Retry-After, it retries as
// often as kubectl.
func (c *Client) send(ctx context.Context, r Request) (*http.Response, error) {
	const attempts = 10
	for n := 1; ; n++ {
		request, err := c.request(ctx, r)
		if err != nil {
			return nil, err
		}
		response, err := c.http.Do(request)
		if err != nil {
			return nil, c.explain(ctx, err)
		}
		c.warn(warningTexts(response.Header))
		if response.StatusCode < 300 {
			return response, nil
		}
		err = failure(response)
		pause, wanted := retryAfter(response)
		response.Body.Close()
		if !wanted || n == attempts {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	target := strings.TrimSuffix(c.base.String(), "/") + r.Path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, target, body)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, r.Header)
	request.Header.Set("User-Agent", c.agent)
	request.Header.Set("Accept", cmp.Or(r.Accept, "application/json"))
	if r.Body != nil {
		request.Header.Set("Content-Type", cmp.Or(r.ContentType, "application/json"))
	}
	return request, nil
}

// warn prints each server warning only once.
func (c *Client) warn(texts []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range texts {
		if !c.warned[text] && len(c.warned) < 1000 {
			c.warned[text] = true
			fmt.Fprintln(c.warnings, "Warning:", text)
		}
	}
}

func warningTexts(h http.Header) (texts []string) {
	for _, header := range h.Values("Warning") {
		_, text, ok := strings.Cut(header, `"`)
		if !ok || !strings.HasPrefix(header, "299") {
			continue
		}
		if i := strings.LastIndexByte(text, '"'); i >= 0 {
			text = text[:i]
		}
		texts = append(texts, strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text))
	}
	return texts
}

func (c *Client) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var refused *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the request to %s timed out; increase --request-timeout", c.base)
	case errors.As(err, &refused) && refused.Op == "dial":
		return fmt.Errorf("cannot connect to %s: %w; is the server running, and is the kubeconfig right?", c.base, refused.Err)
	case strings.Contains(err.Error(), "certificate signed by unknown authority"):
		return fmt.Errorf("the kubeconfig does not trust the certificate of %s: %w", c.base, err)
	}
	return fmt.Errorf("the server at %s: %w", c.base, err)
}
