package main

import (
	"context"
	"net/http"
)

// patchObjects: every operation is a merge patch that changes one value of one object.
func patchObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, hotObjects)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, func(c *Conn, n int) (int, error) {
		answer, err := c.Expect(http.StatusOK, http.MethodPatch, f.path(n%hotObjects), typeMergePatch, mergePatch())
		return len(answer), err
	})
	if err != nil {
		return nil, err
	}
	return simple("merge-patch", sample, load, http.MethodPatch, typeMergePatch, mergePatch()), nil
}

// mergePatch sets the time of sending, which differs from patch to patch.
func mergePatch() []byte {
	return append(appendSent([]byte(`{"data":{`)), `}}`...)
}
