package scenario

import (
	"context"
	"net/http"
)

// updateObjects: every operation is a PUT that changes one object, without a precondition. A version to
// compare with would make clients of the same object conflict. The whole object is sent, although one value
// differs.
func updateObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, f.put(f.total))
	if err != nil {
		return nil, err
	}
	contentType, body := f.body(0)
	return requestResult("update", sample, load, http.MethodPut, contentType, body), nil
}
