package scenario

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// chunk is the limit of one request of list-chunked. It is the page size of kubectl and client libraries.
const chunk = 500

// listObjects: every operation is one list of all objects. An incomplete list counts as an error, or a
// server could be quick by answering less: counting the marks of items hardly costs the client anything.
func listObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.Objects)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, func(c *server.Conn, _ int) (int, error) {
		answer, err := c.Expect(http.StatusOK, http.MethodGet, f.collection(), "", nil)
		if err != nil {
			return 0, err
		}
		return len(answer), f.checkComplete(bytes.Count(answer, itemMark(s.Target)))
	})
	if err != nil {
		return nil, err
	}
	return requestResult("list", sample, load, http.MethodGet, "", nil), nil
}

// listChunked: every operation is a list of all objects in chunks, each asked for with the continue token
// of the one before. The cost is that of the whole list, so it compares with list.
func listChunked(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.Objects)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, func(c *server.Conn, _ int) (int, error) { return f.listChunks(c) })
	if err != nil {
		return nil, err
	}
	requests := (s.Objects + chunk - 1) / chunk
	x := requestShape{method: http.MethodGet, requests: requests, bytes: sample.BytesPerOperation() / requests}
	return []Result{{Name: "list-chunked", Sample: sample, Floor: x.floor(load)}}, nil
}

// chunk is the Step that lists the first objects. It measures one page, which should cost the same whatever
// is behind it.
func (f *fixture) chunk(limit int) measure.Step {
	path := fmt.Sprintf("%s?limit=%d", f.collection(), limit)
	return func(c *server.Conn, _ int) (int, error) {
		answer, err := c.Expect(http.StatusOK, http.MethodGet, path, "", nil)
		return len(answer), err
	}
}

// listChunks follows the continue tokens to the end. It gives up on a server that has more chunks than
// there are objects. The token is opaque and escaped as it comes.
func (f *fixture) listChunks(c *server.Conn) (int, error) {
	first := fmt.Sprintf("%s?limit=%d", f.collection(), chunk)
	path, size, items := first, 0, 0
	for range f.session.Objects + 1 {
		answer, err := c.Expect(http.StatusOK, http.MethodGet, path, "", nil)
		if err != nil {
			return size, err
		}
		size += len(answer)
		items += bytes.Count(answer, itemMark(f.session.Target))
		token := continueToken(f.session.Target, answer)
		if token == "" {
			return size, f.checkComplete(items)
		}
		path = first + "&continue=" + url.QueryEscape(token)
	}
	return size, fmt.Errorf("list of %s never ends", f.collection())
}

// checkComplete checks that a list held every object.
func (f *fixture) checkComplete(items int) error {
	if items != f.session.Objects {
		return fmt.Errorf("list of %s held %d objects instead of %d", f.collection(), items, f.session.Objects)
	}
	return nil
}

// continueToken finds the token in compact JSON; our objects hold nothing that looks like it. A token in
// the text of an object would be found first, but our texts have none. In Protobuf it has its place.
func continueToken(target *server.Target, list []byte) string {
	if target.Accept != "" {
		return string(fieldIn(list[len(protobufMagic):], 2, 1, 3))
	}
	_, after, found := bytes.Cut(list, []byte(`"continue":"`))
	if !found {
		return ""
	}
	token, _, _ := bytes.Cut(after, []byte(`"`))
	return string(token)
}
