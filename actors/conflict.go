package actors

import (
	"context"
	"errors"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// A conflictError is an errStale with its cause: the log refused the write because its base, a
// guard or a fence had changed.
type conflictError struct {
	seen uint64 // the version to await before the newer state is visible; 0: none
	// overtaken means that the object is unchanged, but a guarded aggregate has changed
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
	// maxConflicts limits how often a mutation is computed again after conflicts.
	maxConflicts = 100
	// applyTimeout limits the wait until a conflicting change is applied here.
	applyTimeout = 10 * time.Second
	// maxOvertaken limits how long a mutation is computed again because others change the same
	// aggregate.
	maxOvertaken = 30 * time.Second
)

// retry counts the conflicts of a mutation.
type retry struct {
	conflicts int
	overtaken time.Time // when it was first overtaken
}

// await waits until a stale mutation can be computed on a newer state, or a contended one may find
// room. Its error is the final answer to the mutation, after too long a wait or too many attempts.
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
		return meta.NewConflict(resource(m.Kind), m.Key.Name, "the object has been modified; please apply your changes to the latest version and try again")
	}
	if _, err := s.appliedRevision.awaitFor(ctx, conflict.seen, applyTimeout); err != nil {
		return meta.NewTimeout("a newer state of the object did not arrive in time")
	}
	return nil
}
