package controllers

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
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
	kinds, err := catalog.NewWithConfig(meta.Platform, catalog.RuntimeConfig{"api/all": true}, catalog.Features{StorageVersionMigrator: true})
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

var discardLogger = slog.New(slog.DiscardHandler)

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

func (w *testStore) waitUntil(name string, holds func() bool) {
	w.t.Helper()
	if !poll(holds) {
		w.t.Fatalf("%s: not in all that time", name)
	}
}

func (w *testStore) waitFor(resource string, right func(e reconcile.Event) bool) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	found := false
	(&reconcile.Informer{Client: w.env().ClientOf(w.kind(resource)), On: func(e reconcile.Event) {
		if !found && right(e) {
			found = true
			cancel()
		}
	}}).Run(ctx)
}

// waitNotFound polls until there is no object at path, because a deletion may cause no event.
func (w *testStore) waitNotFound(path string) {
	w.t.Helper()
	if !poll(func() bool { return w.get(path) == nil }) {
		w.t.Fatalf("%s does not go", path)
	}
}

func runControllers(all ...interface{ Run(context.Context) }) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for _, c := range all {
		wait.Go(func() { c.Run(ctx) })
	}
	return func() { cancel(); wait.Wait() }
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

func (w *testStore) patch(path, patch string) {
	w.t.Helper()
	w.mutate(path, request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(patch)}})
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

func (w *testStore) storedTree(path string) tree.Tree {
	w.t.Helper()
	k, _ := w.key(path)
	return must.Get(codec.DecodeStored(k.Message(), w.get(path).JSON))(w.t)
}

func (w *testStore) dataOf(path, key string) string {
	if w.get(path) == nil {
		return ""
	}
	return w.storedTree(path).Object("data").String(key)
}
