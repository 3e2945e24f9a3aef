package scenario

import (
	"context"
	"net/http"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// deleteObjects: every operation is a DELETE of one of the objects that were made before. There are no more
// operations than objects, as each can be deleted once. The objects have no finalizers, so each goes at
// once.
func deleteObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.Objects)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	load.Count = min(load.Count, s.Objects)
	sample, err := load.Drive(ctx, s.Target, func(c *server.Conn, n int) (int, error) {
		answer, err := c.Expect(http.StatusOK, http.MethodDelete, f.path(n), "", nil)
		return len(answer), err
	})
	if err != nil {
		return nil, err
	}
	return requestResult("delete", sample, load, http.MethodDelete, "", nil), nil
}
