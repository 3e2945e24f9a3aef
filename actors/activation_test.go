package actors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

func (h *testStore) activationCount() (n int) {
	h.t.Helper()
	const name = "\ntroupe_object_actors "
	_, rest, _ := strings.Cut(h.metrics(), name)
	must.Get(fmt.Sscan(rest, &n))(h.t)
	return n
}

// TestActivationsAreReused checks that sequential changes to many objects need only a few actors,
// and that a reused actor retains no state from its previous object.
func TestActivationsAreReused(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	const objects = 600
	for i := range objects {
		must.Get(h.create(fmt.Sprint("c", i), fmt.Sprint("v", i)))(t)
	}
	if n := h.activationCount(); n > objects/2 {
		t.Errorf("%d actors for %d idle objects", n, objects)
	}
	for i := range objects {
		r := must.Get(h.patch(fmt.Sprint("c", i), `{"data":{"w":"x"}}`))(t)
		if got, want := h.data(r.Object)["v"], fmt.Sprint("v", i); got != want || r.Object.Key.Name != fmt.Sprint("c", i) {
			t.Fatalf("object %s has the value %v, want c%d with %s", r.Object.Key, got, i, want)
		}
	}
}

// TestFaultyActivationIsNotReused checks that an actor is not reused after a panic. Otherwise,
// changes to another object would wait for the actor's restart.
func TestFaultyActivationIsNotReused(t *testing.T) { synctest.Test(t, testFaultyActivation) }

func testFaultyActivation(t *testing.T) {
	h := open(t, t.TempDir(), func(o *actors.Options) { o.Tuning.RestartBackoff = time.Hour })
	defer h.close()
	h.onValidate(func(value string) {
		if value == "boom" {
			panic("boom")
		}
	})
	if _, err := h.create("bad", "boom"); statusCode(err) != 500 {
		t.Fatalf("panic: %v, want 500", err)
	}
	for i := range 600 { // enough to reuse idle actors
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second) // less than the restart backoff
		name := fmt.Sprint("c", i)
		_, err := h.Mutate(ctx, request.Mutation{Kind: h.kind("configmaps"),
			Key: meta.Key{Namespace: "default", Name: name}, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}}}})
		cancel()
		must.Succeed(t, err)
	}
}

// TestTimedOutMutationReleasesActivation checks that an actor can stop after a waiting request was
// canceled. The canceled mutation must not change the object.
func TestTimedOutMutationReleasesActivation(t *testing.T) {
	h := open(t, t.TempDir(), func(o *actors.Options) { o.Tuning.IdleTime = time.Nanosecond })
	defer h.close()
	entered, gate := make(chan struct{}), make(chan struct{})
	h.onValidate(func(value string) {
		if value == "wait" {
			entered <- struct{}{}
			<-gate
		}
	})
	must.Get(h.create("a", "1"))(t)
	first := make(chan error, 1)
	go func() { _, err := h.patch("a", `{"data":{"v":"wait"}}`); first <- err }()
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := h.Mutate(ctx, request.Mutation{Kind: h.kind("configmaps"),
		Key: meta.Key{Namespace: "default", Name: "a"}, Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"data":{"v":"late"}}`)}})
	if statusCode(err) != 504 {
		t.Errorf("given up: %v, want 504", err)
	}
	close(gate)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if !poll(func() bool { return h.activationCount() == 0 }) {
		t.Fatal("actors stay alive")
	}
	if l := h.list(request.List{}); len(l.Items) != 1 || h.data(l.Items[0])["v"] != "wait" {
		t.Errorf("the state is %v", h.data(l.Items[0]))
	}
}
