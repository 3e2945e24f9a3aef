package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

// Types of watch events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
	Error    = "ERROR"
)

// Event is a watch event. If Type is ERROR, Object is a Status.
type Event struct {
	Type   string
	Object Object
}

// Code returns the status code of an ERROR event, or 0 for other types.
func (e Event) Code() int {
	code, _ := e.Object["code"].(float64)
	return int(code)
}

// Watch is a running watch. Only one goroutine may read it, but any goroutine may close it.
type Watch struct {
	body    io.ReadCloser
	decoder *json.Decoder
}

// Watch watches a collection until ctx ends. query may be nil. If the status code is not 200, the
// error is an *Answer.
func (c *Client) Watch(ctx context.Context, path string, query url.Values) (*Watch, error) {
	asked := url.Values{"watch": {"1"}}
	for name, values := range query {
		asked[name] = values
	}
	r, err := c.request(ctx, http.MethodGet, path+"?"+asked.Encode(), "", nil)
	if err != nil {
		return nil, err
	}
	answer, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return nil, err
		}
		return nil, &Answer{answer.StatusCode, answer.Header, text}
	}
	return &Watch{answer.Body, json.NewDecoder(answer.Body)}, nil
}

// Next blocks until the next event. It returns io.EOF if the server ended the watch cleanly.
func (w *Watch) Next() (e Event, err error) {
	err = w.decoder.Decode(&e)
	return e, err
}

// Close ends the watch.
func (w *Watch) Close() { _ = w.body.Close() }
