package actors

import (
	"context"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// A request may lead its own commit while at most maxLed changes are in progress.
const maxLed = 1

// mayLead reports whether a request's goroutine may run the committer. Leading saves two thread
// switches, but with many writers it would shrink the batches. A request cannot time out while it
// leads, so it never leads a commit to etcd, which may be slow.
func (s *Store) mayLead() bool {
	return s.embedded && s.inProgress.Load() <= maxLed && s.lastBatch.Load() <= maxLed
}

// lead runs the committer on the request's goroutine if the reply has the committer's turn.
func (r *mutateReply) lead(ctx context.Context) {
	if r.turn == (runtime.Turn{}) {
		return
	}
	if c, ok := ctx.(interface{ Pause() }); ok {
		c.Pause()
	}
	r.turn.Run()
}
