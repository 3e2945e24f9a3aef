package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

// heldStore delays writes between the leadership check and the store, as if the server paused
// there.
type heldStore struct {
	Store
	arrived, goOn chan struct{}
}

func (s heldStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	s.arrived <- struct{}{}
	<-s.goOn
	return s.Store.Mutate(ctx, m)
}

// TestPausedLeader checks that a leader's writes are rejected if another server has taken over
// after the leadership check.
func TestPausedLeader(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	cluster := etcdtest.Start(t, 1)
	elect := func() (*Election, *actors.Store) {
		t.Helper()
		log := must.Get(etcd.Open(t.Context(), etcd.Options{Endpoints: cluster.URLs()}))(t)
		store := must.Get(actors.Open(actors.Options{Log: log, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning(), Fatal: func(err error) { t.Error("fatal:", err) }}))(t)
		t.Cleanup(func() {
			if err := errors.Join(store.Close(context.Background()), log.Close()); err != nil {
				t.Error(err)
			}
		})
		return NewElection(NewEnv(store, kinds, slog.New(slog.DiscardHandler))), store
	}
	create := func(s Store, name string) error {
		_, err := s.Mutate(t.Context(), request.Mutation{
			Kind: kinds.Kind("", "v1", "configmaps"), Key: meta.Key{GroupResource: meta.GroupResource{Resource: "configmaps"}, Namespace: "default", Name: name},
			Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name, "namespace": "default"}}},
		})
		return err
	}
	const watchdog = 5 * time.Minute
	// stay extends the leadership beyond the end of the test.
	stay := func(e *Election) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.until = time.Now().Add(time.Hour)
	}
	// lead retries until the server leads, as if the Lease had expired. Several attempts may be
	// needed, because the server may observe the other server's writes late.
	lead := func(e *Election) {
		t.Helper()
		for deadline := time.Now().Add(watchdog); !e.Leads(); {
			if time.Now().After(deadline) {
				t.Fatal("it does not lead")
			}
			must.Succeed(t, e.look(t.Context()))
			e.recorded = e.recorded.Add(-electionDuration)
			e.attempt(t.Context())
		}
		stay(e)
	}
	one, store := elect()
	other, others := elect()
	lead(one)
	must.Succeed(t, create(one.Fenced(store), "before"))
	one.attempt(t.Context()) // renews the Lease
	stay(one)
	must.Succeed(t, create(one.Fenced(store), "renewed"))

	held := heldStore{store, make(chan struct{}), make(chan struct{})}
	answered := make(chan error)
	go func() { answered <- create(one.Fenced(held), "late") }()
	<-held.arrived
	lead(other)
	must.Succeed(t, create(other.Fenced(others), "other"))
	close(held.goOn)
	var status *meta.Status
	var fenced *request.FencedError // not a timeout
	if err := <-answered; !errors.As(err, &status) || status.Code != 503 || !errors.As(err, &fenced) {
		t.Errorf("the late write is answered %v, want 503 because of the fence", err)
	}
	if err := create(other.Fenced(others), "late"); err != nil {
		t.Errorf("what the paused leader has written is there: %v", err)
	}

	other.leave()
	one.mu.Lock()
	one.until = time.Time{} // its leadership expired during the pause
	one.mu.Unlock()
	lead(one)
	if err := create(one.Fenced(store), "again"); err != nil {
		t.Errorf("a write after leading again: %v", err)
	}

	// If a client deletes the fence, the leader's next write fails and the leader takes the Lease
	// again.
	must.Get(cluster.Client().Delete(t.Context(), etcd.DefaultPrefix+"/guards/"+persist.FencePrefix+fence))(t)
	for deadline, n := time.Now().Add(watchdog), 0; one.Leads(); n++ {
		if err := create(one.Fenced(store), fmt.Sprint("without-fence-", n)); err != nil && (!errors.As(err, &status) || status.Code != 503) || time.Now().After(deadline) {
			t.Fatalf("a leader without a fence goes on: %v", err)
		}
	}
	lead(one)
	if err := create(one.Fenced(store), "with-fence"); err != nil {
		t.Errorf("a write after taking over again: %v", err)
	}
}
