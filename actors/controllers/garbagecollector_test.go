package controllers

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

func (w *testStore) waitUntil(name string, holds func() bool) {
	w.t.Helper()
	if !poll(holds) {
		w.t.Fatalf("%s: not in all that time", name)
	}
}

// TestGraphRemovesNodes checks that objects deleted while no watch was running are removed when the
// watch restarts.
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

// lateWatch is a store that delays watches of one resource.
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

// TestOwnerBeforeItsKindIsWatched checks that dependents are collected if their owner was deleted
// before its kind was watched, or if the owner never existed and its kind appears later.
func TestOwnerBeforeItsKindIsWatched(t *testing.T) {
	w := newTestStore(t)
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
	w.perform(`create 1 Secret {"metadata":{"name":"of-none","ownerReferences":[{"apiVersion":"example.com/v1","kind":"Thing","name":"never","uid":"none"}]}}`)
	processed("secrets/default/of-none")
	w.perform(`create 1 CustomResourceDefinition {"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},` +
		`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	definitions.Wait(ctx, w.Version())
	w.perform(`create 1 Thing {"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"short"}}`,
		`create 1 Secret {"metadata":{"name":"of-short","ownerReferences":[{"apiVersion":"example.com/v1","kind":"Thing","name":"short","uid":"uid:Thing/short"}]}}`)
	processed("secrets/default/of-short")
	w.perform(`delete 1 Thing short`)
	close(begin)
	w.waitUntil("both go", func() bool { return w.count("Secret", `"name":"of-`) == 0 })
	w.waitUntil("nothing is left in the graph", func() bool {
		g.graph.mu.Lock()
		defer g.graph.mu.Unlock()
		return len(g.graph.nodes)+len(g.graph.byOwner)+len(g.graph.awaiting)+len(g.graph.awaited) == 0
	})
}
