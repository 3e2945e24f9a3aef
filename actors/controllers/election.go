package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Election elects the server that runs the controllers if several servers share one etcd. The
// leader holds a Lease. Clocks need not be synchronized, because each server measures time from
// when it observed a change to the Lease.
//
// A holder stops if it has not renewed the Lease for renewDeadline, counted from when it sent the
// last successful renewal. Its controllers' writes are then rejected. Other servers take the Lease
// only after observing it unchanged for electionDuration, which is longer.
type Election struct {
	leases reconcile.Client
	key    meta.Key
	holder string
	logger *slog.Logger

	record   leaseRecord  // as last observed; used by Run only
	recorded time.Time    // when record was observed
	lease    *meta.Object // the Lease itself; nil if it does not exist

	mu      sync.Mutex // guards the fields below
	until   time.Time  // end of this daemon's leadership
	taken   uint64     // the version at which this daemon took the Lease
	leading bool
	ended   bool // no more work may start
	changed chan struct{}
	working sync.WaitGroup
}

// Lease timing, as in client-go.
const (
	electionDuration = 15 * time.Second // others may take a Lease that was not renewed for this long
	renewDeadline    = 10 * time.Second // after which the holder stops
	electionPeriod   = 2 * time.Second  // between attempts to renew or take the Lease
	electionGoodbye  = 2 * time.Second  // timeout for releasing the Lease at shutdown
)

// NewElection returns an Election for the Lease of the built-in controllers.
func NewElection(env *Env) *Election {
	leases := env.Client("coordination.platform.io", "v1", "Lease").As(env.Translate("platform-apiserver"))
	return &Election{
		leases: leases, key: leases.Key(env.SystemNamespace(), "troupe-controllers"), logger: env.Log, holder: uuid.NewString(), changed: make(chan struct{}),
	}
}

// Run participates in the election until ctx is done. It then waits for running work to finish and
// releases the Lease.
func (e *Election) Run(ctx context.Context) {
	ticker := time.NewTicker(electionPeriod)
	defer ticker.Stop()
	for ctx.Err() == nil {
		e.attempt(ctx)
		deadline := time.NewTimer(e.left())
		select {
		case <-ticker.C:
		case <-deadline.C:
		case <-ctx.Done():
		}
		deadline.Stop()
		e.update()
	}
	e.mu.Lock()
	e.ended = true
	e.mu.Unlock()
	e.working.Wait()
	e.leave()
}

func (e *Election) attempt(ctx context.Context) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, electionPeriod)
	defer cancel()
	if err := e.look(ctx); err != nil {
		return
	}
	mine := e.record.holder == e.holder
	if !mine && e.record.holder != "" && time.Since(e.recorded) < max(e.record.duration, electionDuration) {
		return
	}
	taken, err := e.write(ctx, e.holder, began, !e.Leads())
	if err != nil {
		if !reconcile.IsConflict(err) && ctx.Err() == nil {
			e.logger.Warn("cannot renew the Lease of the controllers", "lease", e.key.Name, "error", err)
		}
		return
	}
	e.mu.Lock()
	if e.until = began.Add(renewDeadline); taken > 0 {
		e.taken = taken
	}
	e.mu.Unlock()
	e.update()
}

func (e *Election) look(ctx context.Context) error {
	o, object, err := e.leases.Read(ctx, e.key)
	if err != nil {
		return err
	}
	var record leaseRecord
	if e.lease = o; o != nil {
		record = readLease(object)
	}
	if record != e.record || e.recorded.IsZero() {
		e.record, e.recorded = record, time.Now()
	}
	return nil
}

// fence is the name of the guard that rejects a former leader's late writes.
const fence = "controllers"

// write sets the Lease's holder, unless the Lease has changed since it was read. If takes is true,
// it also raises the fence, and taken is the resulting version. Otherwise taken is 0.
func (e *Election) write(ctx context.Context, holder string, at time.Time, takes bool) (taken uint64, err error) {
	spec := tree.Tree{
		"holderIdentity": holder, "leaseDurationSeconds": int64(electionDuration / time.Second),
		"renewTime": at.UTC().Format("2006-01-02T15:04:05.000000Z"),
	}
	if e.record.holder != holder {
		spec["acquireTime"] = spec["renewTime"]
	}
	m := request.Mutation{Key: e.key}
	if takes {
		m.Fence = &request.Guard{Name: fence, Raise: true}
	}
	metadata := tree.Tree{"name": e.key.Name, "namespace": e.key.Namespace}
	if e.lease == nil {
		m.Change = request.Create{Object: tree.Tree{"metadata": metadata, "spec": spec}}
	} else {
		metadata["uid"], metadata["resourceVersion"] = e.lease.Meta.UID, strconv.FormatUint(e.lease.Version, 10)
		body, err := json.Marshal(tree.Tree{"metadata": metadata, "spec": spec})
		if err != nil {
			return 0, err
		}
		m.Change = request.Patch{Type: request.MergePatch, Body: body}
	}
	o, err := e.leases.Mutate(ctx, m)
	if err == nil && takes {
		taken = o.Version
	}
	return taken, err
}

func (e *Election) left() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.leading {
		return time.Hour
	}
	return max(0, time.Until(e.until))
}

// Leads reports whether this server is the leader.
func (e *Election) Leads() bool {
	_, leads := e.term()
	return leads
}

func (e *Election) term() (taken uint64, leads bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.taken, e.leading && time.Now().Before(e.until)
}

func (e *Election) update() {
	e.mu.Lock()
	defer e.mu.Unlock()
	leading := time.Now().Before(e.until)
	if leading == e.leading {
		return
	}
	e.leading = leading
	close(e.changed)
	e.changed = make(chan struct{})
	if leading {
		e.logger.Info("became the leader: running the controllers", "lease", e.key.Namespace+"/"+e.key.Name, "holder", e.holder)
	} else {
		e.logger.Warn("lost the Lease of the controllers: stopping them", "lease", e.key.Namespace+"/"+e.key.Name)
	}
}

// Lead calls work whenever this server becomes the leader, until ctx is done. The context of work
// is canceled when the leadership ends.
func (e *Election) Lead(ctx context.Context, work func(context.Context)) {
	for ctx.Err() == nil {
		e.mu.Lock()
		changed, leading := e.changed, e.leading && !e.ended
		if leading {
			e.working.Add(1)
		}
		e.mu.Unlock()
		if !leading {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		running, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			select {
			case <-changed:
			case <-ended:
			}
			stop()
		}()
		work(running)
		e.working.Done()
		select { // work that ended by itself is not restarted during the same leadership
		case <-changed:
		case <-ctx.Done():
		}
		close(ended)
	}
}

func (e *Election) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), electionGoodbye)
	defer cancel()
	if e.look(ctx) == nil && e.record.holder == e.holder {
		if _, err := e.write(ctx, "", time.Now(), false); err != nil {
			e.logger.Warn("cannot release the Lease of the controllers", "lease", e.key.Name, "error", err)
		}
	}
}

// leadersStore is the Store for controllers that run only on the leader. It rejects writes if this
// server is not the leader. Another server may take the Lease while this one is paused after the
// check. leadersStore therefore adds the fence to each write, so that the log rejects late ones.
type leadersStore struct {
	Store
	election *Election
}

// Fenced returns a Store for the controllers that run only on the leader.
func (e *Election) Fenced(s Store) Store { return leadersStore{s, e} }

// check returns err. If the fence rejected the write, check also ends this server's leadership,
// unless the server has since become the leader again.
func (e *Election) check(taken uint64, err error) error {
	if fenced := (*request.FencedError)(nil); errors.As(err, &fenced) {
		e.mu.Lock()
		if e.taken == taken {
			e.until = time.Time{}
		}
		e.mu.Unlock()
		e.update()
	}
	return err
}

func errNotLeading() error {
	return meta.NewServiceUnavailable("this server no longer runs the controllers")
}

func (s leadersStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	taken, leads := s.election.term()
	if !leads {
		return request.Result{}, errNotLeading()
	}
	m.Fence = &request.Guard{Name: fence, Seen: taken}
	result, err := s.Store.Mutate(ctx, m)
	return result, s.election.check(taken, err)
}

func (s leadersStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	taken, leads := s.election.term()
	if !leads {
		return request.ListResult{}, errNotLeading()
	}
	m.Fence = &request.Guard{Name: fence, Seen: taken}
	result, err := s.Store.DeleteCollection(ctx, l, m)
	return result, s.election.check(taken, err)
}
