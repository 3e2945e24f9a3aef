package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist/vfs"
)

// collecting starts the collector of garbage.
func (w *world) collecting() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	g := NewGarbage(w, w.kinds, slog.New(slog.DiscardHandler))
	wait.Go(func() { g.Run(ctx) })
	return func() { cancel(); wait.Wait() }
}

// link makes the reference to an owner; block says that it may not go before.
func link(o *meta.Object, kind string, block bool) schema.Tree {
	r := schema.Tree{"apiVersion": "v1", "kind": kind, "name": o.Key.Name, "uid": o.Head.UID}
	if block {
		r["blockOwnerDeletion"] = true
	}
	return r
}

// owned makes an object with owners.
func (w *world) owned(path string, references ...schema.Tree) *meta.Object {
	w.t.Helper()
	_, key := w.key(path)
	list := make([]any, len(references))
	for i, r := range references {
		list[i] = r
	}
	metadata := schema.Tree{"name": key.Name, "ownerReferences": list}
	return w.mutate(path, request.Mutation{Verb: request.Create, Object: schema.Tree{"metadata": metadata}})
}

// deleteBy deletes with a policy.
func (w *world) deleteBy(path, policy string) {
	w.t.Helper()
	w.mutate(path, request.Mutation{Verb: request.Delete, Delete: request.DeleteOptions{PropagationPolicy: policy}})
}

// never is an owner that has never been.
var never = &meta.Object{Key: meta.Key{Name: "never"}, Head: meta.Head{UID: "00000000-0000-0000-0000-000000000000"}}

// TestGarbage: an object goes when its last owner has gone, and what it owns goes with it.
func TestGarbage(t *testing.T) {
	w := open(t, vfs.NewMem())
	defer w.close()
	defer w.collecting()()
	a, b := w.create("configmaps/default/a"), w.create("configmaps/default/b")
	child := w.owned("configmaps/default/child", link(a, "ConfigMap", false))
	w.owned("secrets/default/grandchild", link(child, "ConfigMap", true))
	w.owned("configmaps/default/shared", link(a, "ConfigMap", false), link(b, "ConfigMap", true))
	configmaps, secrets := w.watch("configmaps"), w.watch("secrets")
	w.delete("configmaps/default/a")
	configmaps("a has gone", "child has gone")
	secrets("grandchild has gone")
	w.until("shared forgets a", func() bool { return len(w.get("configmaps/default/shared").Head.Owners) == 1 })
	w.delete("configmaps/default/b")
	configmaps("shared has gone")
}

// until waits for a state that no event tells of.
func (w *world) until(what string, holds func() bool) {
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

// TestAbsentOwners: an owner is absent if nothing of its uid is where it is said to be, and
// of a kind that is not known nothing is said.
func TestAbsentOwners(t *testing.T) {
	w := open(t, vfs.NewMem())
	defer w.close()
	w.create("namespaces/other")
	owner, far := w.create("configmaps/default/owner"), w.create("configmaps/other/far")
	space := w.get("namespaces/default")
	unknown := link(never, "Gadget", false)
	unknown["apiVersion"] = "example.com/v1"
	another := link(owner, "ConfigMap", false)
	another["uid"] = never.Head.UID
	w.owned("secrets/default/of-nobody", link(never, "ConfigMap", false))
	w.owned("secrets/default/of-another-life", another)
	w.owned("secrets/default/of-another-namespace", link(far, "ConfigMap", false))
	w.owned("secrets/default/of-another-kind", link(owner, "Secret", false))
	w.owned("secrets/default/of-owner", link(owner, "ConfigMap", false))
	w.owned("secrets/default/of-namespace", link(space, "Namespace", false))
	w.owned("secrets/default/of-unknown", unknown)
	w.owned("nodes/of-namespaced", link(never, "ConfigMap", false))
	secrets := w.watch("secrets")
	defer w.collecting()()
	secrets("of-nobody has gone", "of-another-life has gone", "of-another-namespace has gone", "of-another-kind has gone")
	w.owned("secrets/default/late", link(never, "ConfigMap", false))
	secrets("late has gone")
	for _, path := range []string{"secrets/default/of-owner", "secrets/default/of-namespace", "secrets/default/of-unknown", "nodes/of-namespaced"} {
		if w.get(path) == nil {
			t.Errorf("%s has gone", path)
		}
	}
}

// TestForeground: the dependents that block go before their owner, over generations.
func TestForeground(t *testing.T) {
	w := open(t, vfs.NewMem())
	defer w.close()
	defer w.collecting()()
	owner := w.create("configmaps/default/owner")
	held := w.owned("configmaps/default/held", link(owner, "ConfigMap", true))
	w.mutate("configmaps/default/held", request.Mutation{Verb: request.Patch, PatchType: request.MergePatch,
		PatchBody: []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`)})
	w.owned("secrets/default/grandchild", link(held, "ConfigMap", true))
	w.owned("secrets/default/loose", link(owner, "ConfigMap", false))
	configmaps, secrets := w.watch("configmaps"), w.watch("secrets")
	w.deleteBy("configmaps/default/owner", "Foreground")
	secrets("loose has gone")
	configmaps("held terminates")
	if !w.terminating("configmaps/default/owner") {
		t.Error("the owner has gone before what blocks it")
	}
	w.free("configmaps/default/held")
	configmaps("held has gone", "owner has gone")
	secrets("grandchild has gone")
}

// TestForegroundCircle: two that own each other do not wait for each other for ever.
func TestForegroundCircle(t *testing.T) {
	w := open(t, vfs.NewMem())
	defer w.close()
	defer w.collecting()()
	a := w.create("configmaps/default/a")
	b := w.owned("configmaps/default/b", link(a, "ConfigMap", true))
	w.mutate("configmaps/default/a", request.Mutation{Verb: request.Patch, PatchType: request.MergePatch,
		PatchBody: fmt.Appendf(nil, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":%q,"blockOwnerDeletion":true}]}}`, b.Head.UID)})
	configmaps := w.watch("configmaps")
	w.deleteBy("configmaps/default/a", "Foreground")
	configmaps("a has gone", "b has gone")
}

// TestOrphan: the dependents stay, also those of which no watch has told yet.
func TestOrphan(t *testing.T) {
	for _, many := range []int{0, 1, 200} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			w := open(t, vfs.NewMem())
			defer w.close()
			defer w.collecting()()
			owner, other := w.create("configmaps/default/owner"), w.create("configmaps/default/other")
			configmaps := w.watch("configmaps")
			for i := range many {
				w.owned(fmt.Sprintf("secrets/default/s%d", i), link(owner, "ConfigMap", true), link(other, "ConfigMap", false))
			}
			w.deleteBy("configmaps/default/owner", "Orphan")
			configmaps("owner has gone")
			for i := range many {
				o := w.get(fmt.Sprintf("secrets/default/s%d", i))
				if o == nil {
					t.Fatalf("s%d has gone", i)
				}
				if o.Head.Terminating || len(o.Head.Owners) != 1 || o.Head.Owners[0].UID != other.Head.UID {
					t.Fatalf("s%d: %+v", i, o.Head)
				}
			}
		})
	}
}

// TestGarbageAfterRestart: a new collector finishes what the last one has not.
func TestGarbageAfterRestart(t *testing.T) {
	fs := vfs.NewMem()
	w := open(t, fs)
	owner, kept := w.create("configmaps/default/owner"), w.create("configmaps/default/kept")
	lost := w.create("configmaps/default/lost")
	w.owned("secrets/default/before", link(owner, "ConfigMap", true))
	w.owned("secrets/default/alone", link(kept, "ConfigMap", true))
	w.owned("secrets/default/garbage", link(lost, "ConfigMap", true))
	w.deleteBy("configmaps/default/owner", "Foreground")
	w.deleteBy("configmaps/default/kept", "Orphan")
	w.delete("configmaps/default/lost")
	w.close()

	w = open(t, fs)
	defer w.close()
	configmaps, secrets := w.watch("configmaps"), w.watch("secrets")
	defer w.collecting()()
	configmaps("owner has gone", "kept has gone")
	secrets("before has gone", "garbage has gone")
	if o := w.get("secrets/default/alone"); o == nil || len(o.Head.Owners) != 0 {
		t.Errorf("the orphan: %+v", o)
	}
}

// TestGraphForgets: a watch that begins anew tells also of what has gone meanwhile.
func TestGraphForgets(t *testing.T) {
	g := newGraph()
	k := &schema.Kind{Resource: "configmaps"}
	object := func(uid string, owners ...string) *meta.Object {
		o := &meta.Object{Key: meta.Key{Name: uid}, Head: meta.Head{UID: uid}}
		for _, owner := range owners {
			o.Head.Owners = append(o.Head.Owners, meta.Owner{UID: owner, BlockDeletion: true})
		}
		return o
	}
	uids := func(places []place) string {
		var all []string
		for _, p := range places {
			all = append(all, p.uid)
		}
		return strings.Join(all, " ")
	}
	if got := uids(g.put(k, object("a"), 1)) + "|" + uids(g.put(k, object("b", "a"), 1)) + "|" + uids(g.put(k, object("b", "a"), 1)) +
		"|" + uids(g.put(k, object("c", "b"), 1)); got != "|b||c" {
		t.Errorf("affected %q", got)
	}
	waits := object("a")
	waits.Head.Terminating, waits.Head.Finalizers = true, []string{foregroundFinalizer}
	if got := uids(g.put(k, waits, 1)); got != "a b" || !g.blocked("a") || !g.owns("a") || g.owns("c") {
		t.Errorf("affected %q", got)
	}
	if got := uids(g.put(k, object("b"), 1)); got != "a b" && got != "b a" || g.blocked("a") {
		t.Errorf("affected %q", got)
	}
	g.put(k, object("d", "c"), 2)
	if got := uids(g.dropOlder(k, 2)); got != "d" || len(g.nodes) != 1 || len(g.families) != 1 {
		t.Errorf("affected %q, %d nodes, %d families", got, len(g.nodes), len(g.families))
	}
	if got := uids(g.drop("c")); got != "d" {
		t.Errorf("affected %q", got)
	}
	if g.drop("d"); len(g.nodes) != 0 || len(g.families) != 0 {
		t.Errorf("%d nodes, %d families", len(g.nodes), len(g.families))
	}
}
