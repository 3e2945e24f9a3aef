package actors

import (
	"context"
	"errors"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// conflictError is the errStale error for a write that the log rejected because the base version, a
// guard or a fence had changed.
type conflictError struct {
	seen uint64 // version at which the newer state becomes visible; 0: none
	// overtaken is set if the object is unchanged and only a guarded aggregate has changed
	// (persist.Guard).
	overtaken bool
	fenced    bool
}

func (*conflictError) Error() string { return errStale.Error() }

func (*conflictError) Is(target error) bool { return target == errStale }

func staleAfter(base error) error {
	var conflict *conflictError
	if errors.As(base, &conflict) {
		return conflict
	}
	return errStale
}

const (
	// maxConflicts limits the number of retries of a mutation after conflicts.
	maxConflicts = 100
	// applyTimeout limits how long a retry waits for this server to apply the conflicting change.
	applyTimeout = 10 * time.Second
	// maxOvertaken limits how long a mutation is retried while other servers change the same
	// aggregate.
	maxOvertaken = 30 * time.Second
)

type retry struct {
	conflicts int
	overtaken time.Time // when it was first overtaken
}

// await blocks until a stale mutation can be retried on a newer version, or until exhausted quota
// or addresses may have been freed. If the wait is too long or there are too many conflicts, it
// returns the error for the client.
func (r *retry) await(ctx context.Context, s *Store, m *request.Mutation, refused error) error {
	var contended *request.ContendedError
	if errors.As(refused, &contended) {
		if contended.Wait(ctx); ctx.Err() != nil {
			return meta.NewTimeout("the request ended while it waited for changes of the same quota or addresses")
		}
		return nil
	}
	var conflict *conflictError
	if !errors.As(refused, &conflict) {
		return nil
	}
	switch {
	case conflict.fenced && m.Fence != nil:
		return &request.FencedError{Status: meta.NewServiceUnavailable("another server has taken over the work that this change belongs to")}
	case !conflict.overtaken:
		r.conflicts++
	case r.overtaken.IsZero():
		r.overtaken = time.Now()
	case ctx.Err() != nil || time.Since(r.overtaken) > maxOvertaken:
		return meta.NewTimeout("other servers repeatedly changed the usage of the same quota")
	}
	if r.conflicts >= maxConflicts {
		return m.Conflict("the object has been modified; please apply your changes to the latest version and try again")
	}
	if _, err := s.appliedRevision.awaitFor(ctx, conflict.seen, applyTimeout); err != nil {
		return meta.NewTimeout("a newer state of the object did not arrive in time")
	}
	return nil
}
