package main

import (
	"context"
	"net/http"
)

// hotObjects is how many objects get, update and merge-patch share.
const hotObjects = 1_000

// getObjects: every operation is a GET of one object, in turn.
func getObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, hotObjects)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, func(c *Conn, n int) (int, error) {
		answer, err := c.Expect(http.StatusOK, http.MethodGet, f.path(n%hotObjects), "", nil)
		return len(answer), err
	})
	if err != nil {
		return nil, err
	}
	return simple("get", sample, load, http.MethodGet, "", nil), nil
}
