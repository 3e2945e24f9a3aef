package scenario

import (
	"context"
	"net/http"
)

// createObjects: every operation is a POST of a new object. The collection grows while it runs; growth
// measures what that costs. Every object has another name, of the same length.
func createObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, f.create)
	if err != nil {
		return nil, err
	}
	contentType, body := f.body(0)
	return requestResult("create", sample, load, http.MethodPost, contentType, body), nil
}
