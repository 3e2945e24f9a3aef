package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
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

// testStore is a store on an in-memory journal.
type testStore struct {
	*actors.Store
	t       *testing.T
	kinds   *catalog.Catalog
	journal *persist.Journal
	// staleUpTo is the version up to which objects are rewritten, as after a new encryption key.
	staleUpTo atomic.Uint64
}

// openTestStore starts a store on the files of an earlier one.
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

func (w *testStore) close() {
	w.t.Helper()
	if err := errors.Join(w.Store.Close(context.Background()), w.journal.Close()); err != nil {
		w.t.Error(err)
	}
}

// poll calls done until it returns true, or returns false after minutes.
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

// newNamespaces returns the controller on store, which is w or wraps it.
func (w *testStore) newNamespaces(store Store) *Namespaces {
	return NewNamespaces(NewEnv(store, w.kinds, slog.New(slog.DiscardHandler)), nil, 0)
}

// runNamespaces starts the controller; stop ends it and waits.
func (w *testStore) runNamespaces() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { w.newNamespaces(w).Run(ctx) })
	return func() { cancel(); wait.Wait() }
}

func (w *testStore) kind(resource string) *schema.Kind { return w.kinds.Kind("", "v1", resource) }

// key parses resource/name or resource/namespace/name.
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

// create creates an object with finalizers.
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

func (w *testStore) removeFinalizers(path string) {
	w.t.Helper()
	w.mutate(path, request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"finalizers":null}}`)}})
}

// get returns an object, or nil if it does not exist.
func (w *testStore) get(path string) *meta.Object {
	w.t.Helper()
	k, key := w.key(path)
	o, err := w.Get(context.Background(), request.Get{Kind: k, Key: key})
	if err != nil && !reconcile.IsNotFound(err) {
		w.t.Fatal(err)
	}
	return o
}

// terminating reports whether an object exists and is being deleted.
func (w *testStore) terminating(path string) bool {
	o := w.get(path)
	return o != nil && o.Meta.Terminating
}

// eventLines is a sink that reports "NAME terminates" and "NAME has gone" for one kind.
type eventLines struct {
	lines chan string
	done  chan struct{}
}

func (n *eventLines) Events(events []request.Event) error {
	for _, e := range events {
		switch {
		case e.Type == request.Deleted:
			n.lines <- e.Object.Key.Name + " has gone"
		case e.Object.Meta.Terminating:
			n.lines <- e.Object.Key.Name + " terminates"
		}
	}
	return nil
}

func (n *eventLines) Done() { close(n.done) }

// watch watches a resource. await blocks until the given lines have arrived, in any order.
func (w *testStore) watch(resource string) (await func(lines ...string)) {
	w.t.Helper()
	n := &eventLines{lines: make(chan string, 2000), done: make(chan struct{})}
	session := must.Get(w.Watch(context.Background(), request.Watch{Kind: w.kind(resource), SendInitialEvents: true}, n))(w.t)
	w.t.Cleanup(session.Stop)
	heard := make(map[string]bool)
	return func(lines ...string) {
		w.t.Helper()
		for _, line := range lines {
			for !heard[line] {
				select {
				case next := <-n.lines:
					heard[next] = true
				case <-n.done:
					w.t.Fatalf("the watch ended before %s", line)
				}
			}
		}
	}
}

// TestNamespaceIsDrained checks that all content goes with a namespace, and no other.
func TestNamespaceIsDrained(t *testing.T) {
	for _, content := range []int{0, 1, 300} {
		t.Run(fmt.Sprint(content, " objects"), func(t *testing.T) {
			w := openTestStore(t, vfs.NewMem())
			defer w.close()
			defer w.runNamespaces()()
			w.create("namespaces/n")
			for i := range content {
				w.create(fmt.Sprintf("configmaps/n/c%d", i))
				w.create(fmt.Sprintf("secrets/n/s%d", i))
			}
			w.create("configmaps/default/other")
			left := w.watch("namespaces")
			w.delete("namespaces/n")
			left("n has gone")
			for _, resource := range []string{"configmaps", "secrets"} {
				l, err := w.List(context.Background(), request.List{Kind: w.kind(resource), Namespace: "n"})
				if err != nil || len(l.Items) > 0 {
					t.Errorf("%d %s outlive their namespace: %v", len(l.Items), resource, err)
				}
			}
			if w.get("configmaps/default/other") == nil {
				t.Error("an object of another namespace has gone")
			}
		})
	}
}

// TestNamespaceGrace checks that clients can finalize a namespace themselves during the grace.
func TestNamespaceGrace(t *testing.T) {
	const grace = 50 * time.Millisecond
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	n := w.newNamespaces(w)
	n.grace = grace
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	wait.Go(func() { n.Run(ctx) })
	w.create("namespaces/n")
	w.create("configmaps/n/c")
	left, content := w.watch("namespaces"), w.watch("configmaps")
	began := time.Now()
	w.delete("namespaces/n")
	content("c has gone")
	if took := time.Since(began); took < grace {
		t.Errorf("it is emptied after %s", took)
	}
	left("n has gone")
}

// waitForConditions waits until the conditions of a namespace contain all messages.
func (w *testStore) waitForConditions(name string, messages ...string) {
	w.t.Helper()
	var text string
	if !poll(func() bool {
		text = string(w.get("namespaces/" + name).JSON)
		return !slices.ContainsFunc(messages, func(m string) bool { return !strings.Contains(text, m) })
	}) {
		w.t.Fatalf("the conditions do not say what holds it: %s", text)
	}
}

// TestNamespaceWithForeignSpecFinalizer checks the conditions of an emptied namespace that has
// another finalizer in its spec.
func TestNamespaceWithForeignSpecFinalizer(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	defer w.runNamespaces()()
	w.mutate("namespaces/n", request.Mutation{Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": "n"}, "spec": tree.Tree{"finalizers": []any{"example.com/other"}}}}})
	w.create("configmaps/n/held", "example.com/hold")
	w.delete("namespaces/n")
	w.waitForConditions("n", `"reason":"SomeFinalizersRemain"`)
	w.removeFinalizers("configmaps/n/held")
	w.waitForConditions("n", `"reason":"ContentRemoved"`, `"reason":"ContentHasNoFinalizers"`)
	if !w.terminating("namespaces/n") {
		t.Error("the namespace should wait for the other's finalizer")
	}
}

// TestEmptyNamespaceWithForeignSpecFinalizer checks the same for one that was always empty.
func TestEmptyNamespaceWithForeignSpecFinalizer(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	defer w.runNamespaces()()
	w.mutate("namespaces/n", request.Mutation{Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": "n"}, "spec": tree.Tree{"finalizers": []any{"example.com/other"}}}}})
	w.delete("namespaces/n")
	w.waitForConditions("n", `"reason":"ResourcesDiscovered"`, `"reason":"ContentDeleted"`, `"reason":"ContentRemoved"`)
}

// TestPodsGoFirst checks that Pods go before all other content.
func TestPodsGoFirst(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	defer w.runNamespaces()()
	w.create("namespaces/n")
	w.create("configmaps/n/loose")
	w.mutate("pods/n/held", request.Mutation{Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": "held", "finalizers": []any{"example.com/hold"}},
		"spec":     tree.Tree{"containers": []any{tree.Tree{"name": "c", "image": "i"}}},
	}}})
	namespaces := w.watch("namespaces")
	w.delete("namespaces/n")
	w.waitForConditions("n", "Some resources are remaining: pods. has 1 resource instances")
	if w.get("configmaps/n/loose") == nil {
		t.Error("what the Pod may rely on has gone before it")
	}
	w.removeFinalizers("pods/n/held")
	namespaces("n has gone")
}

// TestTransitionTimeOfConditions checks that a changed message keeps lastTransitionTime.
func TestTransitionTimeOfConditions(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	w.create("namespaces/n")
	w.create("configmaps/n/held", "example.com/hold")
	w.delete("namespaces/n")
	w.mutate("namespaces/n", request.Mutation{Subresource: "status", Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"status":{"conditions":[
		{"type":"NamespaceContentRemaining","status":"True","reason":"SomeResourcesRemain","message":"many","lastTransitionTime":"2020-01-01T00:00:00Z"},
		{"type":"NamespaceFinalizersRemaining","status":"False","reason":"ContentHasNoFinalizers","message":"none","lastTransitionTime":"2020-01-02T00:00:00Z"}]}}`)}})
	defer w.runNamespaces()()
	w.waitForConditions("n", `configmaps. has 1`, `"reason":"SomeFinalizersRemain"`)
	if text := string(w.get("namespaces/n").JSON); !strings.Contains(text, "2020-01-01T00:00:00Z") || strings.Contains(text, "2020-01-02T00:00:00Z") {
		t.Errorf("the conditions: %s", text)
	}
}

// TestMayTakeTime checks that only Pods in their grace period may remain without finalizers.
func TestMayTakeTime(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	n := w.newNamespaces(w)
	for _, c := range []struct {
		resource, content string
		deleted           time.Duration // ago
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

// TestNamespaceWaitsForFinalizers checks that only finalizers keep a namespace.
func TestNamespaceWaitsForFinalizers(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	defer w.runNamespaces()()
	w.create("namespaces/n")
	w.create("namespaces/m")
	w.create("configmaps/n/held", "example.com/hold")
	w.create("configmaps/n/loose")
	namespaces, configmaps := w.watch("namespaces"), w.watch("configmaps")
	w.delete("namespaces/n")
	configmaps("loose has gone", "held terminates")
	w.delete("namespaces/m")
	namespaces("m has gone") // one waiting namespace does not block another
	w.waitForConditions("n", "Some resources are remaining: configmaps. has 1 resource instances",
		"Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances")
	if !w.terminating("namespaces/n") || !w.terminating("configmaps/n/held") {
		t.Error("the namespace and what is held in it should be terminating")
	}
	w.removeFinalizers("configmaps/n/held")
	namespaces("n has gone")
}

// TestNamespaceAfterRestart checks that a new controller on the recovered store resumes.
func TestNamespaceAfterRestart(t *testing.T) {
	fs := vfs.NewMem()
	w := openTestStore(t, fs)
	stop := w.runNamespaces()
	w.create("namespaces/n")
	w.create("configmaps/n/held", "example.com/hold")
	w.create("configmaps/n/loose")
	configmaps := w.watch("configmaps")
	w.delete("namespaces/n")
	configmaps("loose has gone", "held terminates")
	stop()
	w.close()

	w = openTestStore(t, fs)
	defer w.close()
	if !w.terminating("namespaces/n") || !w.terminating("configmaps/n/held") {
		t.Fatal("the namespace and what is held in it should be terminating")
	}
	w.removeFinalizers("configmaps/n/held")
	namespaces := w.watch("namespaces")
	defer w.runNamespaces()()
	namespaces("n has gone")
}

// afterList is a store that runs a hook after the first list of a resource.
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

// TestRecreatedNamespaceIsUntouched checks that a namespace recreated while its finalized
// predecessor is still being drained keeps its content.
func TestRecreatedNamespaceIsUntouched(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	old := w.create("namespaces/n")
	w.create("configmaps/n/held", "example.com/hold")
	w.delete("namespaces/n")
	n := w.newNamespaces(&afterList{testStore: w, resource: "configmaps", happens: func() {
		w.mutate("namespaces/n", request.Mutation{Subresource: "finalize",
			Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"spec":{"finalizers":[]}}`)}})
		w.removeFinalizers("configmaps/n/held")
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
