package actors

import (
	"context"

	"github.com/troupe-api/troupe/actors/internal/runtime"
)

// maxLed is the maximum number of changes in progress at which a request may run the committer for
// its own change (lead the commit).
const maxLed = 1

// mayLead reports whether a request may run the committer on its own goroutine, which saves two
// thread switches. With many writers, leading would make batches smaller. Requests never lead a
// commit to etcd, because it may be slow and a request cannot time out while it leads.
func (s *Store) mayLead() bool {
	return s.embedded && s.inProgress.Load() <= maxLed && s.lastBatch.Load() <= maxLed
}

// lead runs the committer on the request's goroutine if the owner has delegated the commit to it.
func (r *mutateReply) lead(ctx context.Context) {
	if r.turn == (runtime.Turn{}) {
		return
	}
	if c, ok := ctx.(interface{ Pause() }); ok {
		c.Pause()
	}
	r.turn.Run()
}
