package garbagecollector

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

func objectWith(uid string, owners ...string) *meta.Object {
	o := &meta.Object{Key: meta.Key{Name: uid}, Meta: meta.ObjectMeta{UID: uid}}
	for _, owner := range owners {
		o.Meta.OwnerReferences = append(o.Meta.OwnerReferences, meta.OwnerReference{UID: owner, BlockOwnerDeletion: true})
	}
	return o
}

func uidsOf(references []objectReference) string {
	var all []string
	for _, p := range references {
		all = append(all, p.uid.String())
	}
	return strings.Join(all, " ")
}

// TestGraphRemovesNodes checks that objects deleted while no watch was running are removed when the
// watch restarts.
func TestGraphRemovesNodes(t *testing.T) {
	g := newGraph()
	k := &schema.Kind{Resource: "configmaps"}
	if got := uidsOf(g.put(k, objectWith("a"), 1)) + "|" + uidsOf(g.put(k, objectWith("b", "a"), 1)) + "|" + uidsOf(g.put(k, objectWith("b", "a"), 1)) +
		"|" + uidsOf(g.put(k, objectWith("c", "b"), 1)); got != "|b||c" {
		t.Errorf("affected %q", got)
	}
	waits := objectWith("a")
	waits.Meta.Terminating, waits.Meta.Finalizers = true, []string{meta.ForegroundFinalizer}
	if got := uidsOf(g.put(k, waits, 1)); got != "a b" || !g.hasBlockingDependent("a") || !g.hasDependents("a") || g.hasDependents("c") {
		t.Errorf("affected %q", got)
	}
	if got := uidsOf(g.put(k, objectWith("b"), 1)); got != "a b" && got != "b a" || g.hasBlockingDependent("a") {
		t.Errorf("affected %q", got)
	}
	g.put(k, objectWith("d", "c"), 2)
	if got := uidsOf(g.removeStale(k, 2)); got != "d" || len(g.nodes) != 1 || len(g.byOwner) != 1 {
		t.Errorf("affected %q, %d nodes, %d families", got, len(g.nodes), len(g.byOwner))
	}
	if got := uidsOf(g.remove("c")); got != "d" {
		t.Errorf("affected %q", got)
	}
	if g.remove("d"); len(g.nodes) != 0 || len(g.byOwner) != 0 {
		t.Errorf("%d nodes, %d families", len(g.nodes), len(g.byOwner))
	}
}

// TestGraphAwaitsKinds checks that dependents await their owner's kind until that kind is watched,
// and that removed dependents do not.
func TestGraphAwaitsKinds(t *testing.T) {
	g := newGraph()
	k := &schema.Kind{Resource: "configmaps"}
	thing := meta.GroupKind{Group: "example.com", Kind: "Thing"}
	for _, uid := range []string{"a", "b"} {
		g.put(k, objectWith(uid, "owner"), 1)
		g.await(uid, thing)
	}
	g.await("no node", thing)
	if n := len(g.awaiting[thing]); n != 2 {
		t.Errorf("%d dependents await the kind", n)
	}
	g.remove("b")
	if got := uidsOf(g.observeKind(thing)); got != "a" {
		t.Errorf("affected %q", got)
	}
	g.await("a", thing)
	if len(g.awaiting)+len(g.awaited) != 0 {
		t.Errorf("%d kinds are awaited, by %d dependents", len(g.awaiting), len(g.awaited))
	}
}
