package scenario

import (
	"context"
	"net/http"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// hotWriters is how many clients write the same object. They are more than there are processors, so that
// they have to wait for each other.
const hotWriters = 64

// hotObject: every operation is a merge patch of one and the same object. All writes of an object have one
// order, so this is the rate at which a server can decide one after the other. A patch has no version to
// compare, so no writer has to try again.
func hotObject(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	load.Concurrency = hotWriters
	sample, err := load.Drive(ctx, s.Target, func(c *server.Conn, _ int) (int, error) {
		answer, err := c.Expect(http.StatusOK, http.MethodPatch, f.path(0), server.TypeMergePatch, mergePatch())
		return len(answer), err
	})
	if err != nil {
		return nil, err
	}
	return requestResult("hot-object", sample, load, http.MethodPatch, server.TypeMergePatch, mergePatch()), nil
}
