package actors

import (
	"context"
	"errors"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// A conflictError is errStale of a mutation whose write the log has refused, because the state that
// it was computed on had been replaced.
type conflictError struct {
	seen uint64 // the version that must be applied for readers to see the newer state; 0: it is
	// overtaken says that the object is as it was, and another sum has changed that the mutation depends on (persist.Guard).
	overtaken bool
	// fenced says that another server has taken over what the mutation was for (request.Mutation.Fence).
	fenced bool
}

// Error implements error.
func (*conflictError) Error() string { return errStale.Error() }

// Is makes a conflictError an errStale for errors.Is.
func (*conflictError) Is(target error) bool { return target == errStale }

// staleAfter is why a mutation is to be computed again that was based on one which has failed.
func staleAfter(base error) error {
	var conflict *conflictError
	if errors.As(base, &conflict) {
		return conflict
	}
	return errStale
}

const (
	// maxConflicts is how often a mutation is computed again because others were faster.
	maxConflicts = 100
	// applyTimeout is how long a mutation waits until what was faster is applied here.
	applyTimeout = 10 * time.Second
	// maxOvertaken is how long a mutation is computed again because others change the same sum.
	maxOvertaken = 30 * time.Second
)

// retry counts how often a mutation was computed on a state that others had replaced.
type retry struct {
	conflicts int
	overtaken time.Time // when it was overtaken first
}

// await waits until a mutation that was refused as stale can be computed on a newer state, or one that was
// contended when there may be room for it. The error is the answer to the mutation that has waited, or tried, for long enough.
func (r *retry) await(ctx context.Context, s *Store, m *request.Mutation, refused error) error {
	var contended *request.ContendedError
	if errors.As(refused, &contended) {
		if contended.Wait(ctx); ctx.Err() != nil {
			return meta.NewTimeout("the request ended while changes were being stored that need the same room")
		}
		return nil
	}
	var conflict *conflictError
	if !errors.As(refused, &conflict) {
		return nil
	}
	switch {
	case conflict.fenced && m.Fence != nil:
		return &request.FencedError{Status: meta.NewServiceUnavailable("another server does now what this change is a part of")}
	case !conflict.overtaken:
		r.conflicts++
	case r.overtaken.IsZero():
		r.overtaken = time.Now()
	case ctx.Err() != nil || time.Since(r.overtaken) > maxOvertaken:
		return meta.NewTimeout("other servers are changing what the same quota counts, again and again")
	}
	if r.conflicts >= maxConflicts {
		return meta.NewConflict(resource(m.Kind), m.Key.Name, "the object has been modified; please apply your changes to the latest version and try again")
	}
	if _, err := s.appliedRevision.awaitFor(ctx, conflict.seen, applyTimeout); err != nil {
		return meta.NewTimeout("a newer state of the object has not arrived here in time")
	}
	return nil
}
