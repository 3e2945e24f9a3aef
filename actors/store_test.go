package actors_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
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

type testStore struct {
	*actors.Store
	t       testing.TB
	journal *persist.Journal
	kinds   *catalog.Catalog
	dir     string
}

// open opens a store in dir, which may contain the files of an earlier store.
func open(t testing.TB, dir string, change func(*actors.Options)) *testStore {
	t.Helper()
	return openOn(t, dir, vfs.OS{}, change)
}

func openOn(t testing.TB, dir string, fs vfs.FS, change func(*actors.Options)) *testStore {
	t.Helper()
	return openLog(t, dir, must.Get(persist.Open(dir, persist.Options{FS: fs, Sync: persist.SyncAlways}))(t), change)
}

func openLog(t testing.TB, dir string, journal *persist.Journal, change func(*actors.Options)) *testStore {
	t.Helper()
	kinds, err := catalog.New(meta.Platform)
	must.Succeed(t, err)
	h := &testStore{t: t, kinds: kinds, dir: dir, journal: journal}
	options := actors.Options{Log: h.journal, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning(),
		Fatal: func(err error) { t.Error("fatal:", err) }}
	if change != nil {
		change(&options)
	}
	if h.Store, err = actors.Open(options); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *testStore) close() {
	h.t.Helper()
	if err := errors.Join(h.Store.Close(context.Background()), h.journal.Close()); err != nil {
		h.t.Error(err)
	}
}

func (h *testStore) kind(resource string) *schema.Kind { return h.kinds.Kind("", "v1", resource) }

func (h *testStore) do(m request.Mutation) (request.Result, error) {
	m.Kind = h.kind("configmaps")
	m.Key.Namespace = "default"
	return h.Mutate(context.Background(), m)
}

func (h *testStore) create(name, value string) (request.Result, error) {
	return h.do(request.Mutation{Key: meta.Key{Name: name},
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}, "data": tree.Tree{"v": value}}}})
}

func (h *testStore) patch(name, patch string) (request.Result, error) {
	return h.do(request.Mutation{Key: meta.Key{Name: name}, Change: request.Patch{Type: request.MergePatch, Body: []byte(patch)}})
}

func (h *testStore) list(r request.List) request.ListResult {
	h.t.Helper()
	r.Kind = h.kind("configmaps")
	return must.Get(h.List(context.Background(), r))(h.t)
}

func (h *testStore) data(o *meta.Object) tree.Tree {
	h.t.Helper()
	object, _, err := codec.DecodeJSON(h.kind("configmaps").Message(), o.JSON)
	must.Succeed(h.t, err)
	data, _ := object["data"].(tree.Tree)
	return data
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

func TestConcurrentPatchesAllApply(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	must.Get(h.create("hot", "0"))(t)
	const writers, each = 16, 20
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				if _, err := h.patch("hot", fmt.Sprintf(`{"data":{"w%d-%d":"x"}}`, w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	l := h.list(request.List{})
	if got := len(h.data(l.Items[0])); got != writers*each+1 {
		t.Errorf("%d keys, want %d", got, writers*each+1)
	}
}

func TestRestartKeepsStateAndVersions(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, nil)
	for i := range 50 {
		must.Get(h.create(fmt.Sprint("c", i), "x"))(t)
	}
	must.Succeed(t, h.Snapshot())
	last := must.Get(h.patch("c7", `{"data":{"v":"y"}}`))(t)
	h.close()
	h = open(t, dir, nil)
	defer h.close()
	if l := h.list(request.List{}); len(l.Items) != 50 || l.Version != last.Object.Version {
		t.Errorf("%d items at version %d, want 50 at %d", len(l.Items), l.Version, last.Object.Version)
	}
	next, err := h.patch("c7", `{"data":{"v":"z"}}`)
	if err != nil || next.Object.Version <= last.Object.Version {
		t.Errorf("version %v after %d: %v", next.Object, last.Object.Version, err)
	}
}
