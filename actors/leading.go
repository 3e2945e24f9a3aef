package actors

import (
	"context"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// maxLed is the number of changes in progress up to which a request leads its commit.
const maxLed = 4

// mayLead reports whether the goroutine of a request may run the committer, which saves switches to
// other threads and back. With many writers that would shrink the batches. A request ignores its
// deadline while it leads, so only the commits of embedded logs are led.
func (s *Store) mayLead() bool {
	return s.embedded && s.inProgress.Load() <= maxLed && s.lastBatch.Load() <= maxLed
}

// lead runs the committer on the goroutine of the request, if it has the committer's turn.
func (r *mutateReply) lead(ctx context.Context) {
	if r.turn == (runtime.Turn{}) {
		return
	}
	if c, ok := ctx.(interface{ Pause() }); ok {
		c.Pause()
	}
	r.turn.Run()
}
