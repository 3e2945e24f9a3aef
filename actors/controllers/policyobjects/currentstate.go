package policyobjects

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// Where other daemons write to the same log, what is known here may be older than what their clients were answered. A request
// that asks for the newest state then waits for what was committed before it began, and so does an answer that nothing
// was changed, for that is an answer about a state.

// Current answers a version that contains everything that was committed before the call, by whomever, once it has arrived here.
type Current func(ctx context.Context) (uint64, error)

// Confirming is the store whose answers about the newest state are those of all daemons.
func (s BarrierStore) Confirming(current Current) BarrierStore {
	s.current = current
	return s
}

// newest is the version that a read of the newest state must have reached.
func (s BarrierStore) newest(ctx context.Context) (uint64, error) {
	version, err := s.current(ctx)
	switch {
	case err == nil:
		return version, nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return 0, meta.NewTimeout("the store behind this server has not answered in time")
	}
	status := meta.NewServiceUnavailable("the store behind this server cannot be reached, please try again later; with resourceVersion=0 what is known here can be read")
	status.Details = &meta.Details{RetryAfterSeconds: 1}
	return 0, status
}

// maxCatchUp bounds the wait for policy and definitions before somebody is refused.
const maxCatchUp = 2 * time.Second

// CatchUp waits until what was committed before the call, by whichever daemon, is in effect here: kinds are served as their
// definitions say, and policy decides by the objects as they are. It answers false if that cannot be found out.
func (s BarrierStore) CatchUp(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, maxCatchUp)
	defer cancel()
	version, err := s.newest(ctx)
	return err == nil && s.awaitInEffect(ctx, version) == nil
}

// awaitInEffect waits until a version is in effect here. The error says that the store has not
// reached it; policy may be behind when ctx ends.
func (s BarrierStore) awaitInEffect(ctx context.Context, version uint64) error {
	if err := s.Store.AwaitVersion(ctx, version); err != nil {
		return err
	}
	definitions := s.reader.kinds.storage(meta.GroupResource{Group: "apiextensions.platform.io", Resource: "customresourcedefinitions"})
	s.definitions.Wait(ctx, s.Store.CollectionVersion(definitions))
	s.reader.catchUp(ctx)
	return nil
}

// Get implements http.Store.
func (s BarrierStore) Get(ctx context.Context, r request.Get) (o *meta.Object, err error) {
	if s.current != nil && r.Version == 0 && !r.Stale {
		if r.Version, err = s.newest(ctx); err != nil {
			return nil, err
		}
	}
	return s.Store.Get(ctx, r)
}

// List implements http.Store.
func (s BarrierStore) List(ctx context.Context, r request.List) (request.ListResult, error) {
	r, err := s.confirmList(ctx, r)
	if err != nil {
		return request.ListResult{}, err
	}
	return s.Store.List(ctx, r)
}

// confirmList makes a list of the newest state one of a state that has everything committed before. The chunks of a list come
// from the version that its token names, unless that is gone and the token says so.
func (s BarrierStore) confirmList(ctx context.Context, r request.List) (request.List, error) {
	if s.current == nil || r.Match != request.MatchMostRecent || r.Continue != "" && !actors.ContinuesNewest(r.Continue) {
		return r, nil
	}
	version, err := s.newest(ctx)
	r.Match, r.Version = request.MatchNotOlderThan, version
	return r, err
}

// Watch implements http.Store.
func (s BarrierStore) Watch(ctx context.Context, r request.Watch, sink request.Sink) (session request.Session, err error) {
	if s.current != nil && r.SendInitialEvents && r.Version == 0 && !r.Stale {
		if r.Version, err = s.newest(ctx); err != nil {
			return nil, err
		}
	}
	return s.Store.Watch(ctx, r, sink)
}

// NoOpApply implements http.Store. What is known to change nothing here may change what others have written.
func (s BarrierStore) NoOpApply(m *request.Mutation) (request.Result, bool) {
	if s.current != nil {
		return request.Result{}, false
	}
	return s.Store.NoOpApply(m)
}

// mutateCurrent makes a change. One that was committed was computed on the newest state, as the log
// has checked; a refusal, a change that changes nothing, and a dry run may be answers about an
// older one. They count if nothing was committed since that state and admission had seen all of it;
// else the change is computed once more, on one that is as new as the request.
func (s BarrierStore) mutateCurrent(ctx context.Context, m request.Mutation) (request.Result, error) {
	if s.current == nil {
		return s.Store.Mutate(ctx, m)
	}
	known, changes := s.Store.Version(), s.reader.changes.Load()
	result, err := s.Store.Mutate(ctx, m)
	if err == nil && !m.DryRun && (result.Object == nil || result.Object.Version > known) || err != nil && !isRefusal(err) {
		return result, err
	}
	version, fault := s.newest(ctx)
	if fault != nil {
		return request.Result{}, fault
	}
	if version <= known && s.reader.isCaughtUp() && changes == s.reader.changes.Load() {
		return result, err
	}
	if fault := s.awaitPolicy(ctx, version); fault != nil {
		return request.Result{}, fault
	}
	return s.Store.Mutate(ctx, m)
}

// awaitPolicy is awaitInEffect for a writer, who waits for policy no longer than before a refusal.
func (s BarrierStore) awaitPolicy(ctx context.Context, version uint64) error {
	if err := s.Store.AwaitVersion(ctx, version); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxCatchUp)
	defer cancel()
	return s.awaitInEffect(ctx, version)
}

// isRefusal says whether an error depends on the state of objects.
func isRefusal(err error) bool {
	var status *meta.Status
	if !errors.As(err, &status) {
		return false
	}
	switch status.Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
