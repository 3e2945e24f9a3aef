package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// Media types of bodies.
const (
	JSON           = "application/json"
	MergePatch     = "application/merge-patch+json"
	StrategicPatch = "application/strategic-merge-patch+json"
)

// A Client sends requests to one API server.
type Client struct {
	base string
	http *http.Client
}

// Load makes the Client of a client configuration file. connections bounds those that are open at the same time beside
// the watches.
func Load(path string, connections int) (*Client, error) {
	c, err := kubeconfig.Load(path)
	if err != nil {
		return nil, err
	}
	transport := c.Transport(func() *http.Transport {
		return &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: connections, IdleConnTimeout: 90 * time.Second,
		}
	})
	return &Client{strings.TrimSuffix(c.Server.String(), "/"), &http.Client{Transport: transport}}, nil
}

// URL is where the server is.
func (c *Client) URL() string { return c.base }

// Close closes the connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A StatusError is an answer of another code than the 2xx.
type StatusError struct {
	Code    int
	Message string // of the Status, or the whole answer
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// HasCode tells whether an error is an answer of one of these codes.
func HasCode(err error, codes ...int) bool {
	var answer *StatusError
	if !errors.As(err, &answer) {
		return false
	}
	for _, code := range codes {
		if answer.Code == code {
			return true
		}
	}
	return false
}

const (
	requestTimeout = 30 * time.Second // of everything but watches
	maxAnswer      = 64 << 20         // bytes of an answer
)

// Do sends a request once and returns the body of the answer. The body is sent as it is if it is []byte, else as its
// JSON; nil is none. The error is a *StatusError if the server has answered and not with a code 2xx.
func (c *Client) Do(ctx context.Context, method, path, contentType string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := c.send(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	return io.ReadAll(io.LimitReader(answer, maxAnswer))
}

// send returns the body of an answer with a code 2xx, which the caller closes.
func (c *Client) send(ctx context.Context, method, path, contentType string, body any) (io.ReadCloser, error) {
	var text io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		text = bytes.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		text = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, text)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", JSON)
	r.Header.Set("User-Agent", "troupe-cluster")
	if body != nil {
		r.Header.Set("Content-Type", contentType)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the URL, which every caller knows
		}
		return nil, err
	}
	if answer.StatusCode/100 == 2 {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	refusal, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // what there is of it
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(refusal, &status) != nil || status.Message == "" {
		status.Message = strings.TrimSpace(string(refusal))
	}
	return nil, &StatusError{answer.StatusCode, status.Message}
}
