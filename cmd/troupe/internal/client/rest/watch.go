package rest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
)

// An Event is a watch event.
type Event struct {
	Type   string // ADDED, MODIFIED, DELETED or BOOKMARK
	Object json.RawMessage
}

// maxEvent is the maximum size of a watch event in bytes.
const maxEvent = 64 << 20

// Watch calls the callback for every watch event. It returns nil when the server ends the stream,
// and otherwise the error of the stream or callback. An ERROR event becomes a *StatusError.
func (c *Client) Watch(ctx context.Context, path string, query url.Values, accept string, each func(Event) error) error {
	stream, err := c.Stream(ctx, Request{Method: http.MethodGet, Path: path, Query: query, Accept: accept})
	if err != nil {
		return err
	}
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEvent)
	lines.Split(wholeLines)
	for lines.Scan() {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("cannot decode a watch event: %w", err)
		}
		if e.Type == "ERROR" {
			t, err := document.Parse(e.Object)
			if err != nil {
				return fmt.Errorf("cannot decode an error event: %w", err)
			}
			return StatusOf(t, 0)
		}
		if err := each(e); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return fmt.Errorf("a watch event exceeds %d MiB", maxEvent>>20)
	}
	return nil
}

func wholeLines(data []byte, _ bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}
