package actors

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

func (s *ClientStore) newest(ctx context.Context) (uint64, error) {
	version, err := s.opts.Newest(ctx)
	switch {
	case err == nil:
		return version, nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return 0, meta.NewTimeout("the store did not respond in time")
	}
	status := meta.NewServiceUnavailable("the store cannot be reached, please try again later; reads with resourceVersion=0 are served from memory")
	status.Details = &meta.Details{RetryAfterSeconds: 1}
	return 0, status
}

// maxCatchUp limits how long CatchUp waits, and how long awaitVersion waits for Definitions and
// Observers.
const maxCatchUp = 2 * time.Second

// CatchUp blocks until this server has applied every commit made by any server before the call, and
// until Definitions and Observers are current. It waits for at most maxCatchUp, and returns false
// if the store has not applied the commits by then.
func (s *ClientStore) CatchUp(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, maxCatchUp)
	defer cancel()
	version, err := s.newest(ctx)
	return err == nil && s.awaitInEffect(ctx, version) == nil
}

// awaitInEffect blocks until the store, Definitions and Observers include version. If ctx is done
// early, Definitions and Observers may still be behind.
func (s *ClientStore) awaitInEffect(ctx context.Context, version uint64) error {
	if err := s.store.AwaitVersion(ctx, version); err != nil {
		return err
	}
	s.opts.Definitions.CatchUp(ctx)
	s.opts.Observers.CatchUp(ctx)
	return nil
}

func (s *ClientStore) Get(ctx context.Context, r request.Get) (o *meta.Object, err error) {
	if s.opts.Newest != nil && r.Version == 0 && !r.Stale && r.Time.IsZero() {
		if r.Version, err = s.newest(ctx); err != nil {
			return nil, err
		}
	}
	return s.store.Get(ctx, r)
}

func (s *ClientStore) List(ctx context.Context, r request.List) (request.ListResult, error) {
	r, err := s.confirmList(ctx, r)
	if err != nil {
		return request.ListResult{}, err
	}
	return s.store.List(ctx, r)
}

// History returns the retained revisions of an object, newest first. They include every earlier
// commit by any server.
func (s *ClientStore) History(ctx context.Context, r request.History) (request.HistoryResult, error) {
	if s.opts.Newest != nil && r.Before == 0 {
		version, err := s.newest(ctx)
		if err == nil {
			err = s.store.AwaitVersion(ctx, version)
		}
		if err != nil {
			return request.HistoryResult{}, err
		}
	}
	return s.store.History(ctx, r)
}

// confirmList ensures that a most-recent list includes every earlier commit by any server. Later
// chunks are read at the version in their continue token, unless that version has expired and the
// token allows a newer version.
func (s *ClientStore) confirmList(ctx context.Context, r request.List) (request.List, error) {
	if s.opts.Newest == nil || r.Match != request.MatchMostRecent || !r.Time.IsZero() || r.Continue != "" && !ContinuesNewest(r.Continue) {
		return r, nil
	}
	version, err := s.newest(ctx)
	r.Match, r.Version = request.MatchNotOlderThan, version
	return r, err
}

func (s *ClientStore) Watch(ctx context.Context, r request.Watch, sink request.Sink) (session request.Session, err error) {
	if s.opts.Newest != nil && r.SendInitialEvents && r.Version == 0 && !r.Stale {
		if r.Version, err = s.newest(ctx); err != nil {
			return nil, err
		}
	}
	return s.store.Watch(ctx, r, sink)
}

// NoOpApply returns the result of a server-side apply that changes nothing, and true, without
// running the mutation. If other servers share the log, it always returns false, because this
// server's objects may be stale.
func (s *ClientStore) NoOpApply(m request.Mutation, digest func() meta.Digest) (request.Result, bool) {
	if s.opts.Newest != nil {
		return request.Result{}, false
	}
	return s.store.NoOpApply(m, digest)
}

// mutateNewest applies a change when other servers share the log. The log accepts only changes to
// the newest version. Rejections, no-ops and dry runs bypass the log, so they may be based on stale
// state. In these cases, mutateNewest computes the change again if newer commits exist or the
// caches used by admission were out of date.
func (s *ClientStore) mutateNewest(ctx context.Context, m request.Mutation) (request.Result, error) {
	known, changes := s.store.Version(), s.opts.Observers.Changes()
	result, err := s.store.Mutate(ctx, m)
	if err == nil && !m.DryRun && (result.Object == nil || result.Object.Version > known) || err != nil && !isRefusal(err) {
		return result, err
	}
	version, fault := s.newest(ctx)
	if fault != nil {
		return request.Result{}, fault
	}
	if version <= known && s.opts.Observers.IsCaughtUp() && changes == s.opts.Observers.Changes() {
		return result, err
	}
	if fault := s.awaitVersion(ctx, version); fault != nil {
		return request.Result{}, fault
	}
	return s.store.Mutate(ctx, m)
}

func (s *ClientStore) awaitVersion(ctx context.Context, version uint64) error {
	if err := s.store.AwaitVersion(ctx, version); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxCatchUp)
	defer cancel()
	return s.awaitInEffect(ctx, version)
}

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
