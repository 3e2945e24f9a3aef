package actors_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

func (h *testStore) thingDefinition() *crd.Definition { return h.kinds.Compile(thingsDefinition()) }

func thingsDefinition() tree.Tree {
	return tree.Tree{
		"metadata": tree.Tree{"name": "things.example.com"},
		"spec": tree.Tree{"group": "example.com", "scope": "Namespaced", "names": tree.Tree{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
			"versions": []any{tree.Tree{"name": "v1", "served": true, "storage": true, "schema": tree.Tree{"openAPIV3Schema": tree.Tree{"type": "object"}}}}},
	}
}

type doneSink chan struct{}

func (doneSink) Events([]request.Event) error { return nil }

func (e doneSink) Done() { close(e) }

// TestWatchOfFormerKind checks that a new watch of a custom resource ends immediately if the CRD
// has changed since the request was parsed.
func TestWatchOfFormerKind(t *testing.T) { synctest.Test(t, testWatchOfFormerKind) }

func testWatchOfFormerKind(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	former, now := h.thingDefinition(), h.thingDefinition()
	h.RegisterKind(former.Stored)
	h.RegisterKind(now.Stored)
	for _, k := range []*schema.Kind{former.Stored, former.Served[0]} {
		end := make(doneSink)
		must.Get(h.Watch(context.Background(), request.Watch{Kind: k, Version: h.Version()}, end))(t)
		synctest.Wait()
		select {
		case <-end:
		default:
			t.Fatal("it goes on in a form that no one else sees any more")
		}
	}
	end := make(doneSink)
	session := must.Get(h.Watch(context.Background(), request.Watch{Kind: now.Stored, Version: h.Version()}, end))(t)
	synctest.Wait()
	select {
	case <-end:
		t.Fatal("a watch by the current definition ends")
	default:
	}
	session.Stop()
	<-end
}

// TestKindGoesWhileAdmissionWaits checks that a change fails if its kind is removed during
// admission, for example by another server. It must not retry forever.
func TestKindGoesWhileAdmissionWaits(t *testing.T) {
	h := openOn(t, "/data", vfs.NewMem(), nil)
	defer h.close()
	definitions := h.kinds.Kind("apiextensions.platform.io", "v1", "customresourcedefinitions")
	must.Get(h.Mutate(t.Context(), request.Mutation{Kind: definitions, Key: meta.Key{Name: "things.example.com"}, Change: request.Create{Object: thingsDefinition()}}))(t)
	thing := h.thingDefinition().Stored
	h.RegisterKind(thing)
	a := meta.Key{Namespace: "default", Name: "a"}
	must.Get(h.Mutate(t.Context(), request.Mutation{Kind: thing, Key: a, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": "a"}}}}))(t)
	remove := request.Mutation{Kind: thing, Key: a, Change: request.Delete{}}
	f := &waitingFake{validate: func(ctx context.Context, _ *request.Attributes) error {
		if _, err := h.Mutate(ctx, remove); err != nil {
			t.Error(err)
		}
		h.UnregisterKind(thing)
		return nil
	}}
	waits := remove
	waits.Admission, waits.Recorder = admissionOf(f.plugin()), new(request.Recorder)
	answered := make(chan error, 1)
	go func() {
		_, err := h.Mutate(t.Context(), waits)
		answered <- err
	}()
	select {
	case err := <-answered:
		if statusCode(err) != 404 {
			t.Errorf("got %v, want 404", err)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("there is no answer")
	}
}
