package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

// The types of events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
	Error    = "ERROR"
)

// An Event is one event of a watch. Of an Error, Object is the Status.
type Event struct {
	Type   string
	Object Object
}

// Code is the code of the Status of an Error; else 0.
func (e Event) Code() int {
	code, _ := e.Object["code"].(float64)
	return int(code)
}

// A Watch is a running watch. It belongs to one goroutine, but Close may come from any.
type Watch struct {
	body    io.ReadCloser
	decoder *json.Decoder
}

// Watch starts a watch on a collection; watch=1 is added to query, which may be nil. An
// answer of another code than 200 is an *Answer as error. It ends with ctx.
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

// Next waits for the next event; io.EOF is a clean end.
func (w *Watch) Next() (e Event, err error) {
	err = w.decoder.Decode(&e)
	return e, err
}

// Close ends the watch.
func (w *Watch) Close() { _ = w.body.Close() }
