package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"testing"
	"time"
)

// Content types of request bodies.
const (
	JSON       = "application/json"
	MergePatch = "application/merge-patch+json"
	JSONPatch  = "application/json-patch+json"
)

// Client sends requests to one server with the credentials of its kubeconfig. It is safe for
// concurrent use.
type Client struct {
	URL       string
	TLS       *tls.Config
	header    http.Header // sent with every request
	transport interface {
		http.RoundTripper
		CloseIdleConnections()
	}
}

// New returns a Client for a server's kubeconfig, which must have one cluster and one user, with
// embedded certificates.
func New(kubeconfig string) (*Client, error) {
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, err
	}
	field := func(name string) []byte {
		m := regexp.MustCompile(name + `: (\S+)`).FindSubmatch(text)
		if m == nil {
			err = fmt.Errorf("%s: no %s", kubeconfig, name)
			return nil
		}
		return m[1]
	}
	data := func(name string) []byte {
		pem, fault := base64.StdEncoding.DecodeString(string(field(name)))
		if fault != nil {
			err = fault
		}
		return pem
	}
	server, ca := string(field("server")), data("certificate-authority-data")
	cert, key := data("client-certificate-data"), data("client-key-data")
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{pair}}
	config.RootCAs.AppendCertsFromPEM(ca)
	dialer := &net.Dialer{Timeout: Watchdog}
	transport := &http.Transport{
		TLSClientConfig: config.Clone(), DialContext: dialer.DialContext, MaxIdleConnsPerHost: 64, ForceAttemptHTTP2: overHTTP2(),
		// The server closes a connection 30 seconds after the handshake if no request has arrived.
		IdleConnTimeout: 20 * time.Second,
	}
	return &Client{URL: server, TLS: config, transport: transport}, nil
}

// Over returns a Client for url that uses the given transport.
func Over(url string, transport *http.Transport) *Client {
	return &Client{URL: url, transport: transport}
}

// With returns a Client that adds headers to each request.
func (c *Client) With(headers http.Header) *Client {
	with := *c
	with.header = headers
	return &with
}

// WithoutCertificate returns a Client for the same server without a client certificate.
func (c *Client) WithoutCertificate(t testing.TB) *Client {
	return &Client{URL: c.URL, TLS: c.Anonymous(), transport: Transport(t, c.Anonymous())}
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Answer is a complete response with any status code.
type Answer struct {
	Code   int
	Header http.Header
	Body   []byte
}

// Object decodes the body as an object. It returns nil if the body is not a JSON object.
func (a Answer) Object() Object {
	o, err := parse(a.Body)
	if err != nil {
		return nil
	}
	return o
}

// String returns the status code and the body.
func (a Answer) String() string { return fmt.Sprintf("%d %s", a.Code, a.Body) }

// Do sends a request. body is a []byte, a value to encode as JSON, or nil. It returns an error only
// if it received no complete response.
func (c *Client) Do(ctx context.Context, method, path, contentType string, body any) (Answer, error) {
	r, err := c.request(ctx, method, path, contentType, body)
	if err != nil {
		return Answer{}, err
	}
	return c.round(r)
}

// round sends a request and reads the response. It calls the transport directly, because an
// http.Client would follow redirects.
func (c *Client) round(r *http.Request) (Answer, error) {
	answer, err := c.transport.RoundTrip(r)
	if err != nil {
		return Answer{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return Answer{answer.StatusCode, answer.Header, text}, err
}

func (c *Client) request(ctx context.Context, method, path, contentType string, body any) (*http.Request, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		reader = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, reader)
	if err != nil {
		return nil, err
	}
	// Without GetBody, net/http cannot retry the request. Retries would hide broken connections.
	r.GetBody = nil
	if body != nil {
		r.Header.Set("Content-Type", contentType)
	}
	maps.Copy(r.Header, c.header)
	return r, nil
}

// Get sends a GET request for any path.
func (c *Client) Get(ctx context.Context, path string) (Answer, error) {
	return c.Do(ctx, http.MethodGet, path, "", nil)
}

// GetAs is like Get, but sends an Accept header.
func (c *Client) GetAs(ctx context.Context, path, accept string) (Answer, error) {
	r, err := c.request(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Accept", accept)
	return c.round(r)
}

// Create creates an object with a POST request to its collection.
func (c *Client) Create(ctx context.Context, path string, o any) (Answer, error) {
	return c.Do(ctx, http.MethodPost, path, JSON, o)
}

// Update replaces the object at path with a PUT request.
func (c *Client) Update(ctx context.Context, path string, o any) (Answer, error) {
	return c.Do(ctx, http.MethodPut, path, JSON, o)
}

// Patch updates the object at path with a JSON merge patch.
func (c *Client) Patch(ctx context.Context, path string, patch any) (Answer, error) {
	return c.Do(ctx, http.MethodPatch, path, MergePatch, patch)
}

// Delete deletes the object at path. options may be nil.
func (c *Client) Delete(ctx context.Context, path string, options any) (Answer, error) {
	return c.Do(ctx, http.MethodDelete, path, JSON, options)
}

// List reads a collection, or one page of it. query may be nil. If the status code is not 200, the
// error is an *Answer.
func (c *Client) List(ctx context.Context, path string, query url.Values) (List, error) {
	answer, err := c.Get(ctx, path+"?"+query.Encode())
	if err != nil {
		return List{}, err
	}
	if answer.Code != http.StatusOK {
		return List{}, &answer
	}
	return parseList(answer.Body)
}

// Error returns the same text as String. It lets callers return an unexpected response as an error.
func (a *Answer) Error() string { return a.String() }
