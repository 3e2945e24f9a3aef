package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

func (w *testStore) runGarbageCollector() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	g := NewGarbageCollector(NewEnv(w, w.kinds, slog.New(slog.DiscardHandler)))
	wait.Go(func() { g.Run(ctx) })
	return func() { cancel(); wait.Wait() }
}

// ownerReference returns a reference to an owner; block sets blockOwnerDeletion.
func ownerReference(o *meta.Object, kind string, block bool) tree.Tree {
	r := tree.Tree{"apiVersion": "v1", "kind": kind, "name": o.Key.Name, "uid": o.Meta.UID}
	if block {
		r["blockOwnerDeletion"] = true
	}
	return r
}

func (w *testStore) createOwned(path string, references ...tree.Tree) *meta.Object {
	w.t.Helper()
	_, key := w.key(path)
	list := make([]any, len(references))
	for i, r := range references {
		list[i] = r
	}
	metadata := tree.Tree{"name": key.Name, "ownerReferences": list}
	return w.mutate(path, request.Mutation{Change: request.Create{Object: tree.Tree{"metadata": metadata}}})
}

func (w *testStore) deleteWithPolicy(path, policy string) {
	w.t.Helper()
	w.mutate(path, request.Mutation{Change: request.Delete{PropagationPolicy: policy}})
}

// absentOwner is an owner that never existed.
var absentOwner = &meta.Object{Key: meta.Key{Name: "never"}, Meta: meta.ObjectMeta{UID: "00000000-0000-0000-0000-000000000000"}}

// TestGarbage checks that an object and its dependents are deleted after its last owner.
func TestGarbage(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	defer w.runGarbageCollector()()
	a, b := w.create("configmaps/default/a"), w.create("configmaps/default/b")
	child := w.createOwned("configmaps/default/child", ownerReference(a, "ConfigMap", false))
	w.createOwned("secrets/default/grandchild", ownerReference(child, "ConfigMap", true))
	w.createOwned("configmaps/default/shared", ownerReference(a, "ConfigMap", false), ownerReference(b, "ConfigMap", true))
	configmaps, secrets := w.watch("configmaps"), w.watch("secrets")
	w.delete("configmaps/default/a")
	configmaps("a has gone", "child has gone")
	secrets("grandchild has gone")
	w.waitUntil("shared forgets a", func() bool { return len(w.get("configmaps/default/shared").Meta.OwnerReferences) == 1 })
	w.delete("configmaps/default/b")
	configmaps("shared has gone")
}

// waitUntil polls for a state that no event reports.
func (w *testStore) waitUntil(what string, holds func() bool) {
	w.t.Helper()
	news := w.watch("configmaps")
	for i := 0; !holds(); i++ {
		name := fmt.Sprintf("until-%d", i)
		w.create("configmaps/default/" + name)
		w.delete("configmaps/default/" + name)
		news(name + " has gone")
		if i == 5000 {
			w.t.Fatalf("%s: not in all that time", what)
		}
	}
}

// TestAbsentOwners checks that an owner is absent if no object with its uid has its name, and that
// owners of unknown kinds count as present.
func TestAbsentOwners(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	w.create("namespaces/other")
	owner, far := w.create("configmaps/default/owner"), w.create("configmaps/other/far")
	space := w.get("namespaces/default")
	unknown := ownerReference(absentOwner, "Gadget", false)
	unknown["apiVersion"] = "example.com/v1"
	another := ownerReference(owner, "ConfigMap", false)
	another["uid"] = absentOwner.Meta.UID
	w.createOwned("secrets/default/of-nobody", ownerReference(absentOwner, "ConfigMap", false))
	w.createOwned("secrets/default/of-another-life", another)
	w.createOwned("secrets/default/of-another-namespace", ownerReference(far, "ConfigMap", false))
	w.createOwned("secrets/default/of-another-kind", ownerReference(owner, "Secret", false))
	w.createOwned("secrets/default/of-owner", ownerReference(owner, "ConfigMap", false))
	w.createOwned("secrets/default/of-namespace", ownerReference(space, "Namespace", false))
	w.createOwned("secrets/default/of-unknown", unknown)
	w.createOwned("nodes/of-namespaced", ownerReference(absentOwner, "ConfigMap", false))
	secrets := w.watch("secrets")
	defer w.runGarbageCollector()()
	secrets("of-nobody has gone", "of-another-life has gone", "of-another-namespace has gone", "of-another-kind has gone")
	w.createOwned("secrets/default/late", ownerReference(absentOwner, "ConfigMap", false))
	secrets("late has gone")
	for _, path := range []string{"secrets/default/of-owner", "secrets/default/of-namespace", "secrets/default/of-unknown", "nodes/of-namespaced"} {
		if w.get(path) == nil {
			t.Errorf("%s has gone", path)
		}
	}
}

// TestForeground checks that blocking dependents go before their owner, over several generations.
func TestForeground(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	defer w.runGarbageCollector()()
	owner := w.create("configmaps/default/owner")
	held := w.createOwned("configmaps/default/held", ownerReference(owner, "ConfigMap", true))
	w.mutate("configmaps/default/held", request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`)}})
	w.createOwned("secrets/default/grandchild", ownerReference(held, "ConfigMap", true))
	w.createOwned("secrets/default/loose", ownerReference(owner, "ConfigMap", false))
	configmaps, secrets := w.watch("configmaps"), w.watch("secrets")
	w.deleteWithPolicy("configmaps/default/owner", "Foreground")
	secrets("loose has gone")
	configmaps("held terminates")
	if !w.terminating("configmaps/default/owner") {
		t.Error("the owner has gone before what blocks it")
	}
	w.removeFinalizers("configmaps/default/held")
	configmaps("held has gone", "owner has gone")
	secrets("grandchild has gone")
}

// TestForegroundCircle checks that objects that own each other do not block each other forever.
func TestForegroundCircle(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	defer w.runGarbageCollector()()
	a := w.create("configmaps/default/a")
	b := w.createOwned("configmaps/default/b", ownerReference(a, "ConfigMap", true))
	w.mutate("configmaps/default/a", request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: fmt.Appendf(nil, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":%q,"blockOwnerDeletion":true}]}}`, b.Meta.UID)}})
	configmaps := w.watch("configmaps")
	w.deleteWithPolicy("configmaps/default/a", "Foreground")
	configmaps("a has gone", "b has gone")
}

// TestOrphan checks that dependents are orphaned, even if no watch has delivered them yet.
func TestOrphan(t *testing.T) {
	for _, many := range []int{0, 1, 200} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			w := openTestStore(t, vfs.NewMem())
			defer w.close()
			defer w.runGarbageCollector()()
			owner, other := w.create("configmaps/default/owner"), w.create("configmaps/default/other")
			configmaps := w.watch("configmaps")
			for i := range many {
				w.createOwned(fmt.Sprintf("secrets/default/s%d", i), ownerReference(owner, "ConfigMap", true), ownerReference(other, "ConfigMap", false))
			}
			w.deleteWithPolicy("configmaps/default/owner", "Orphan")
			configmaps("owner has gone")
			for i := range many {
				o := w.get(fmt.Sprintf("secrets/default/s%d", i))
				if o == nil {
					t.Fatalf("s%d has gone", i)
				}
				if o.Meta.Terminating || len(o.Meta.OwnerReferences) != 1 || o.Meta.OwnerReferences[0].UID != other.Meta.UID {
					t.Fatalf("s%d: %+v", i, o.Meta)
				}
			}
		})
	}
}

// TestGarbageAfterRestart checks that a new collector completes unfinished work.
func TestGarbageAfterRestart(t *testing.T) {
	fs := vfs.NewMem()
	w := openTestStore(t, fs)
	owner, kept := w.create("configmaps/default/owner"), w.create("configmaps/default/kept")
	lost := w.create("configmaps/default/lost")
	w.createOwned("secrets/default/before", ownerReference(owner, "ConfigMap", true))
	w.createOwned("secrets/default/alone", ownerReference(kept, "ConfigMap", true))
	w.createOwned("secrets/default/garbage", ownerReference(lost, "ConfigMap", true))
	w.deleteWithPolicy("configmaps/default/owner", "Foreground")
	w.deleteWithPolicy("configmaps/default/kept", "Orphan")
	w.delete("configmaps/default/lost")
	w.close()

	w = openTestStore(t, fs)
	defer w.close()
	configmaps, secrets := w.watch("configmaps"), w.watch("secrets")
	defer w.runGarbageCollector()()
	configmaps("owner has gone", "kept has gone")
	secrets("before has gone", "garbage has gone")
	if o := w.get("secrets/default/alone"); o == nil || len(o.Meta.OwnerReferences) != 0 {
		t.Errorf("the orphan: %+v", o)
	}
}

// TestGraphRemovesNodes checks that a restarted watch removes objects deleted in between.
func TestGraphRemovesNodes(t *testing.T) {
	g := newGraph()
	k := &schema.Kind{Resource: "configmaps"}
	object := func(uid string, owners ...string) *meta.Object {
		o := &meta.Object{Key: meta.Key{Name: uid}, Meta: meta.ObjectMeta{UID: uid}}
		for _, owner := range owners {
			o.Meta.OwnerReferences = append(o.Meta.OwnerReferences, meta.OwnerReference{UID: owner, BlockOwnerDeletion: true})
		}
		return o
	}
	uids := func(places []objectReference) string {
		var all []string
		for _, p := range places {
			all = append(all, p.uid.String())
		}
		return strings.Join(all, " ")
	}
	if got := uids(g.put(k, object("a"), 1)) + "|" + uids(g.put(k, object("b", "a"), 1)) + "|" + uids(g.put(k, object("b", "a"), 1)) +
		"|" + uids(g.put(k, object("c", "b"), 1)); got != "|b||c" {
		t.Errorf("affected %q", got)
	}
	waits := object("a")
	waits.Meta.Terminating, waits.Meta.Finalizers = true, []string{meta.ForegroundFinalizer}
	if got := uids(g.put(k, waits, 1)); got != "a b" || !g.hasBlockingDependent("a") || !g.hasDependents("a") || g.hasDependents("c") {
		t.Errorf("affected %q", got)
	}
	if got := uids(g.put(k, object("b"), 1)); got != "a b" && got != "b a" || g.hasBlockingDependent("a") {
		t.Errorf("affected %q", got)
	}
	g.put(k, object("d", "c"), 2)
	if got := uids(g.removeStale(k, 2)); got != "d" || len(g.nodes) != 1 || len(g.byOwner) != 1 {
		t.Errorf("affected %q, %d nodes, %d families", got, len(g.nodes), len(g.byOwner))
	}
	if got := uids(g.remove("c")); got != "d" {
		t.Errorf("affected %q", got)
	}
	if g.remove("d"); len(g.nodes) != 0 || len(g.byOwner) != 0 {
		t.Errorf("%d nodes, %d families", len(g.nodes), len(g.byOwner))
	}
}

// defineThings creates a CRD and returns the kind of its objects once it is served.
func (w *testStore) defineThings(d *Definitions) *schema.Kind {
	w.t.Helper()
	k := w.kinds.ByGVK(meta.GroupVersionKind{Group: "apiextensions.platform.io", Version: "v1", Kind: "CustomResourceDefinition"})
	result := must.Get(w.Mutate(context.Background(), request.Mutation{
		Kind: k, Key: meta.Key{GroupResource: k.Storage, Name: "things.example.com"},
		Change: request.Create{Object: tree.Tree{
			"metadata": tree.Tree{"name": "things.example.com"},
			"spec": tree.Tree{"group": "example.com", "scope": "Namespaced", "names": tree.Tree{"plural": "things", "kind": "Thing"},
				"versions": []any{tree.Tree{"name": "v1", "served": true, "storage": true, "schema": tree.Tree{"openAPIV3Schema": tree.Tree{"type": "object"}}}}},
		}},
	}))(w.t)
	d.Wait(context.Background(), result.Object.Version)
	return w.kinds.ByGVK(meta.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"})
}

// lateWatch is a store that delays the watch of one resource.
type lateWatch struct {
	*testStore
	resource string
	begin    chan struct{}
}

func (l lateWatch) Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error) {
	if r.Kind.Resource == l.resource {
		<-l.begin
	}
	return l.testStore.Watch(ctx, r, sink)
}

// TestOwnerBeforeItsKindIsWatched checks that dependents are collected if their owner came and went
// before its kind was watched, or never existed and its kind appears later.
func TestOwnerBeforeItsKindIsWatched(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	begin := make(chan struct{})
	g := NewGarbageCollector(NewEnv(lateWatch{w, "things", begin}, w.kinds, slog.New(slog.DiscardHandler)))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { g.Run(ctx) })
	definitions := NewDefinitions(w, w.kinds, slog.New(slog.DiscardHandler))
	running.Go(func() { definitions.Run(ctx) })
	defer func() { cancel(); running.Wait() }()
	processed := func(path string) {
		t.Helper()
		uid := w.get(path).Meta.UID
		w.waitUntil(path+" has been looked at", func() bool {
			g.graph.mu.Lock()
			defer g.graph.mu.Unlock()
			return g.graph.awaited[g.graph.nodes[uid]] != nil
		})
	}
	owner := ownerReference(absentOwner, "Thing", false)
	owner["apiVersion"] = "example.com/v1"
	w.createOwned("secrets/default/of-none", owner)
	processed("secrets/default/of-none")

	k := w.defineThings(definitions)
	key := meta.Key{GroupResource: k.Storage, Namespace: "default", Name: "short"}
	thing := tree.Tree{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": tree.Tree{"name": "short"}}
	made := must.Get(w.Mutate(ctx, request.Mutation{Kind: k, Key: key, Change: request.Create{Object: thing}}))(t)
	owner = ownerReference(made.Object, "Thing", false)
	owner["apiVersion"] = "example.com/v1"
	w.createOwned("secrets/default/of-short", owner)
	processed("secrets/default/of-short")
	must.Get(w.Mutate(ctx, request.Mutation{Kind: k, Key: key, Change: request.Delete{}}))(t)
	secrets := w.watch("secrets")
	close(begin)
	secrets("of-none has gone", "of-short has gone")
	w.waitUntil("nothing is left in the graph", func() bool {
		g.graph.mu.Lock()
		defer g.graph.mu.Unlock()
		return len(g.graph.nodes)+len(g.graph.byOwner)+len(g.graph.awaiting)+len(g.graph.awaited) == 0
	})
}
