package scenario

import (
	"context"
	"net/http"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// patchObjects: every operation is a merge patch that changes one value of one object. The server has to
// read, merge and encode the object, where an update replaces it.
func patchObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, f.patch)
	if err != nil {
		return nil, err
	}
	return requestResult("merge-patch", sample, load, http.MethodPatch, server.TypeMergePatch, mergePatch()), nil
}

// patch is the Step that changes one value of one of the objects. A patch is much smaller than the object,
// so what is measured is the server's work.
func (f *fixture) patch(c *server.Conn, n int) (int, error) {
	answer, err := c.Expect(http.StatusOK, http.MethodPatch, f.path(n%f.total), server.TypeMergePatch, mergePatch())
	return len(answer), err
}

// mergePatch sets the time of sending, which differs from patch to patch. A patch that changed nothing
// would not be written at all.
func mergePatch() []byte {
	return append(appendSent([]byte(`{"data":{`)), `}}`...)
}
