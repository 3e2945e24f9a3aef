package controllers

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// testStore is a store backed by an in-memory journal.
type testStore struct {
	*actors.Store
	t       *testing.T
	kinds   *catalog.Catalog
	journal *persist.Journal
	// staleUpTo is the version up to which stored objects count as stale, as after a change of the
	// encryption key.
	staleUpTo atomic.Uint64
}

// openTestStore opens a store on fs, which may already contain the files of an earlier store.
func openTestStore(t *testing.T, fs vfs.FS) *testStore {
	t.Helper()
	kinds, err := catalog.NewWithConfig(meta.Platform, catalog.RuntimeConfig{"api/all": true}, nil)
	must.Succeed(t, err)
	w := &testStore{t: t, kinds: kinds}
	journal, err := persist.Open("/data", persist.Options{FS: fs, Sync: persist.SyncAlways})
	must.Succeed(t, err)
	w.journal = journal
	w.Store, err = actors.Open(actors.Options{Log: journal, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning(),
		Stale: func(_ string, version persist.Revision) bool { return uint64(version) <= w.staleUpTo.Load() },
		Fatal: func(err error) { t.Error("fatal:", err) }})
	must.Succeed(t, err)
	return w
}

func newTestStore(t *testing.T) *testStore {
	t.Helper()
	w := openTestStore(t, vfs.NewMem())
	t.Cleanup(w.close)
	return w
}

func (w *testStore) env() *Env { return NewEnv(w, w.kinds, discardLogger) }

func (w *testStore) close() {
	w.t.Helper()
	if err := errors.Join(w.Store.Close(context.Background()), w.journal.Close()); err != nil {
		w.t.Error(err)
	}
}

// poll calls done until it returns true. It returns false after five minutes.
func poll(done func() bool) bool {
	tick, watchdog := time.NewTicker(time.Millisecond), time.After(5*time.Minute)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-watchdog:
			return false
		}
	}
	return true
}

func (w *testStore) newNamespaces(store Store) *Namespaces {
	return NewNamespaces(NewEnv(store, w.kinds, slog.New(slog.DiscardHandler)), nil, 0)
}

func (w *testStore) kind(resource string) *schema.Kind { return w.kinds.Kind("", "v1", resource) }

func (w *testStore) key(path string) (*schema.Kind, meta.Key) {
	parts := strings.Split(path, "/")
	k := w.kind(parts[0])
	key := meta.Key{GroupResource: k.Storage, Name: parts[len(parts)-1]}
	if k.Namespaced {
		key.Namespace = parts[1]
	}
	return k, key
}

func (w *testStore) mutate(path string, m request.Mutation) *meta.Object {
	w.t.Helper()
	m.Kind, m.Key = w.key(path)
	result, err := w.Mutate(context.Background(), m)
	if err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return result.Object
}

func (w *testStore) create(path string, finalizers ...any) *meta.Object {
	w.t.Helper()
	_, key := w.key(path)
	metadata := tree.Tree{"name": key.Name, "finalizers": finalizers}
	return w.mutate(path, request.Mutation{Change: request.Create{Object: tree.Tree{"metadata": metadata}}})
}

func (w *testStore) delete(path string) {
	w.t.Helper()
	w.mutate(path, request.Mutation{Change: request.Delete{}})
}

func (w *testStore) get(path string) *meta.Object {
	w.t.Helper()
	k, key := w.key(path)
	o, err := w.Get(context.Background(), request.Get{Kind: k, Key: key})
	if err != nil && !reconcile.IsNotFound(err) {
		w.t.Fatal(err)
	}
	return o
}

// TestNamespaceGrace checks that clients can finalize a namespace themselves during the grace
// period.
func TestNamespaceGrace(t *testing.T) {
	const grace = 50 * time.Millisecond
	w := newTestStore(t)
	n := w.newNamespaces(w)
	n.grace = grace
	defer runControllers(n)()
	w.create("namespaces/n")
	w.create("configmaps/n/c")
	began := time.Now()
	w.delete("namespaces/n")
	w.waitUntil("it is emptied", func() bool { return w.get("configmaps/n/c") == nil })
	if took := time.Since(began); took < grace {
		t.Errorf("it is emptied after %s", took)
	}
	w.waitUntil("it goes", func() bool { return w.get("namespaces/n") == nil })
}

// TestMayTakeTime checks that mayTakeTime returns true only for running Pods that are still within
// their grace period.
func TestMayTakeTime(t *testing.T) {
	w := newTestStore(t)
	n := w.newNamespaces(w)
	for _, c := range []struct {
		resource, content string
		deleted           time.Duration // time since the deletion
		want              bool
	}{
		{"configmaps", `{}`, 0, false},
		{"pods", `{"spec":{"terminationGracePeriodSeconds":30}}`, time.Second, true},
		{"pods", `{"spec":{"terminationGracePeriodSeconds":30}}`, time.Hour, false},
		{"pods", `{"spec":{"terminationGracePeriodSeconds":30},"status":{"phase":"Succeeded"}}`, time.Second, false},
	} {
		namespace := tree.Tree{"metadata": tree.Tree{"deletionTimestamp": time.Now().Add(-c.deleted).UTC().Format(time.RFC3339)}}
		if got := n.mayTakeTime(w.kind(c.resource), namespace, []*meta.Object{{JSON: []byte(c.content)}}); got != c.want {
			t.Errorf("%s %s after %v: %v", c.resource, c.content, c.deleted, got)
		}
	}
}

// afterList is a store that calls its happens function once, after the first list of a resource.
type afterList struct {
	*testStore
	resource string
	happens  func()
}

func (a *afterList) List(ctx context.Context, r request.List) (request.ListResult, error) {
	l, err := a.testStore.List(ctx, r)
	if r.Kind.Resource == a.resource && a.happens != nil {
		a.happens()
		a.happens = nil
	}
	return l, err
}

// TestRecreatedNamespaceIsUntouched checks that a recreated namespace keeps its content, even if
// its finalized predecessor is still being drained.
func TestRecreatedNamespaceIsUntouched(t *testing.T) {
	w := newTestStore(t)
	old := w.create("namespaces/n")
	w.create("configmaps/n/held", "example.com/hold")
	w.delete("namespaces/n")
	n := w.newNamespaces(&afterList{testStore: w, resource: "configmaps", happens: func() {
		w.mutate("namespaces/n", request.Mutation{Subresource: "finalize",
			Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"spec":{"finalizers":[]}}`)}})
		w.patch("configmaps/n/held", `{"metadata":{"finalizers":null}}`)
		w.create("namespaces/n")
		w.create("configmaps/n/new")
	}})
	n.drain(context.Background(), namespaceInstance{name: "n", uid: old.Meta.UID})
	if o := w.get("namespaces/n"); o == nil || o.Meta.UID == old.Meta.UID || !strings.Contains(string(o.JSON), `"finalizers":["platform"]`) {
		t.Errorf("the new namespace was touched: %v", o)
	}
	if o := w.get("configmaps/n/new"); o == nil || o.Meta.Terminating {
		t.Errorf("what is in the new namespace was touched: %v", o)
	}
}
