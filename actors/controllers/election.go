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

// An Election decides which of several daemons on one state runs the controllers: the one that holds a Lease. Clocks need not
// agree, as each measures from when it has seen the Lease change.
//
// The holder stops, and refuses writes of its controllers, when it has not renewed the Lease for renewDeadline, counted from before
// it asked. Nobody else takes the Lease before it has seen it unchanged for electionDuration, which is longer.
type Election struct {
	leases reconcile.Client
	key    meta.Key
	holder string
	logger *slog.Logger

	record   leaseRecord  // as it was seen last; only Run uses it,
	recorded time.Time    // when that was,
	lease    *meta.Object // and the Lease itself; nil if there is none

	mu      sync.Mutex // guards what follows
	until   time.Time  // that this daemon may lead
	taken   uint64     // the version with which it has taken the Lease
	leading bool
	ended   bool // nobody begins to lead any more
	changed chan struct{}
	working sync.WaitGroup
}

// The times of the Lease, which are those of client-go.
const (
	electionDuration = 15 * time.Second // after which others may take a Lease that was not renewed
	renewDeadline    = 10 * time.Second // after which the holder stops
	electionPeriod   = 2 * time.Second  // between two attempts to renew or to take it
	electionGoodbye  = 2 * time.Second  // for giving it back at the end
)

// NewElection makes an Election for the Lease of the built-in controllers.
func NewElection(env *Env) *Election {
	leases := env.Client("coordination.platform.io", "v1", "Lease").As(env.Translate("platform-apiserver"))
	return &Election{
		leases: leases, key: leases.Key(env.SystemNamespace(), "troupe-controllers"), logger: env.Log, holder: uuid.NewString(), changed: make(chan struct{}),
	}
}

// Run stands for election until the context ends. Then it waits until those who lead have ended, and gives the Lease back.
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

// attempt renews the Lease, or takes it if nobody holds it.
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
			e.logger.Warn("renewing the Lease of the controllers", "lease", e.key.Name, "error", err)
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

// look reads the Lease, and notes when it has become another one.
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

// fence is the name of that which keeps back what a daemon still writes that another one has taken the Lease from.
const fence = "controllers"

// write makes a holder that of the Lease, unless it has changed since it was read. One that takes it raises the fence; taken is
// the version of that.
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

// left is for how long this daemon may still lead; long if it does not.
func (e *Election) left() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.leading {
		return time.Hour
	}
	return max(0, time.Until(e.until))
}

// Leads tells whether this daemon may act as the leader at this moment.
func (e *Election) Leads() bool {
	_, leads := e.term()
	return leads
}

// term is the version with which this daemon has taken the Lease, and whether it may act as the leader at this moment.
func (e *Election) term() (taken uint64, leads bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.taken, e.leading && time.Now().Before(e.until)
}

// update says who leads at this moment.
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
		e.logger.Info("this daemon runs the controllers", "lease", e.key.Namespace+"/"+e.key.Name, "holder", e.holder)
	} else {
		e.logger.Warn("this daemon does not lead any more, as it has not renewed the Lease in time or another one has taken it, and stops the controllers", "lease", e.key.Namespace+"/"+e.key.Name)
	}
}

// Lead runs work whenever this daemon leads, until the context ends. The context of work ends when it does not lead any more.
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
		select { // work that has ended by itself is not begun again while this daemon leads
		case <-changed:
		case <-ctx.Done():
		}
		close(ended)
	}
}

// leave gives the Lease back, so that nobody has to wait for its end.
func (e *Election) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), electionGoodbye)
	defer cancel()
	if e.look(ctx) == nil && e.record.holder == e.holder {
		if _, err := e.write(ctx, "", time.Now(), false); err != nil {
			e.logger.Warn("giving the Lease of the controllers back", "lease", e.key.Name, "error", err)
		}
	}
}

// A leadersStore is the store as controllers see it that only one daemon runs: its changes are refused when this daemon does
// not lead any more. They also name the fence of the Lease: a daemon that is paused between that question and the commit, for
// so long that another one leads meanwhile, commits nothing.
type leadersStore struct {
	Store
	election *Election
}

// Fenced is a store for the controllers that this daemon runs while it leads.
func (e *Election) Fenced(s Store) Store { return leadersStore{s, e} }

// check lets the daemon lead no more if the fence has refused a change, whoever has raised or deleted it. It stands for election again.
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

// errNotLeading answers what a controller still asks that is about to be stopped.
func errNotLeading() error {
	return meta.NewServiceUnavailable("this daemon does not run the controllers any more")
}

// Mutate implements Store.
func (s leadersStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	taken, leads := s.election.term()
	if !leads {
		return request.Result{}, errNotLeading()
	}
	m.Fence = &request.Guard{Name: fence, Seen: taken}
	result, err := s.Store.Mutate(ctx, m)
	return result, s.election.check(taken, err)
}

// DeleteCollection implements Store.
func (s leadersStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	taken, leads := s.election.term()
	if !leads {
		return request.ListResult{}, errNotLeading()
	}
	m.Fence = &request.Guard{Name: fence, Seen: taken}
	result, err := s.Store.DeleteCollection(ctx, l, m)
	return result, s.election.check(taken, err)
}
