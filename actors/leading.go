package actors

import (
	"context"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// maxLed is the highest number of changes in progress at which a request may lead its own commit.
const maxLed = 4

// mayLead reports whether a request's goroutine may run the committer. Leading saves two thread
// switches, but with many writers it would shrink the batches. A leading request ignores its
// deadline, so it never leads commits to etcd, which may take long.
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
