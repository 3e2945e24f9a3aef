package actors_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// fakeConverter converts Things to v2. It blocks while its gate is closed, and fails while err is
// set.
type fakeConverter struct {
	mu        sync.Mutex
	err       error
	gate      chan struct{} // nil: no gate
	waiting   chan struct{} // receives each call that has reached the gate
	converted map[string]int
}

func (f *fakeConverter) Convert(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error) {
	f.mu.Lock()
	gate, err := f.gate, f.err
	for _, o := range objects {
		f.converted[fmt.Sprint(o.Meta.UID, "/", o.Version)]++
	}
	f.mu.Unlock()
	if gate != nil {
		f.waiting <- struct{}{}
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	var out []*meta.Object
	for _, o := range objects {
		json := bytes.Replace(o.JSON, []byte(`"apiVersion":"example.com/v1"`), []byte(`"apiVersion":"example.com/v2"`), 1)
		c, err := codec.NewObject(k, o.Key, o.Version, json)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (f *fakeConverter) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fakeConverter) shut() (open func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gate := make(chan struct{})
	f.gate, f.waiting = gate, make(chan struct{}, 1000)
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.gate = nil
		close(gate)
	})
}

func (f *fakeConverter) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := make(map[string]int)
	maps.Copy(counts, f.converted)
	return counts
}

// things is a store of Things, which are stored as v1 and converted to v2 by a fakeConverter.
type things struct {
	*testStore
	*fakeConverter
	v1, v2 *schema.Kind
}

func openThings(t *testing.T) *things {
	t.Helper()
	f := &fakeConverter{converted: make(map[string]int)}
	h := &things{fakeConverter: f}
	h.testStore = open(t, t.TempDir(), func(o *actors.Options) {
		o.Converter = func(k *schema.Kind) convert.Converter {
			if k.Kind == "Thing" && k.Version == "v2" {
				return f
			}
			return nil
		}
	})
	t.Cleanup(h.testStore.close)
	version := func(name string, storage bool) tree.Tree {
		return tree.Tree{"name": name, "served": true, "storage": storage,
			"schema": tree.Tree{"openAPIV3Schema": tree.Tree{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
	}
	definition := tree.Tree{
		"metadata": tree.Tree{"name": "things.example.com"},
		"spec": tree.Tree{"group": "example.com", "scope": "Namespaced", "names": tree.Tree{"plural": "things", "kind": "Thing"},
			"versions": []any{version("v1", true), version("v2", false)}},
	}
	d := h.kinds.Compile(definition)
	h.RegisterKind(d.Stored)
	h.v1, h.v2 = d.Served[0], d.Served[1]
	kind := h.kinds.Kind(meta.Platform.Group("apiextensions"), "v1", "customresourcedefinitions")
	must.Get(h.Mutate(context.Background(), request.Mutation{Kind: kind, Key: meta.Key{Name: "things.example.com"}, Change: request.Create{Object: definition}}))(t)
	return h
}

func (h *things) create(k *schema.Kind, name, label string) (request.Result, error) {
	return h.change(k, name, request.Create{Object: tree.Tree{"apiVersion": k.APIVersion(), "kind": "Thing", "metadata": tree.Tree{"name": name, "labels": tree.Tree{"l": label}}}})
}

func (h *things) patch(k *schema.Kind, name, label string) (request.Result, error) {
	return h.change(k, name, request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"labels":{"l":"` + label + `"}}}`)})
}

func (h *things) change(k *schema.Kind, name string, change request.Change) (request.Result, error) {
	return h.Mutate(context.Background(), request.Mutation{Kind: k, Key: meta.Key{Namespace: "default", Name: name}, Change: change})
}

func (h *things) mustCreate(name, label string) *meta.Object {
	return h.must(h.create(h.v1, name, label))
}

func (h *things) mustPatch(name, label string) *meta.Object {
	return h.must(h.patch(h.v1, name, label))
}

func (h *things) must(r request.Result, err error) *meta.Object {
	h.t.Helper()
	must.Succeed(h.t, err)
	return r.Object
}

func (h *things) get(ctx context.Context, k *schema.Kind, name string) (*meta.Object, error) {
	return h.Get(ctx, request.Get{Kind: k, Key: meta.Key{Namespace: "default", Name: name}})
}

func (h *things) watch(r request.Watch) (eventSink, request.Session) {
	h.t.Helper()
	sink := make(eventSink, 1000)
	session := must.Get(h.Watch(context.Background(), r, sink))(h.t)
	return sink, session
}

func (h *things) next(sink eventSink) request.Event {
	h.t.Helper()
	select {
	case e := <-sink:
		return e
	case <-time.After(5 * time.Minute):
		h.t.Fatal("no event")
		panic("unreachable")
	}
}

func hasVersion(o *meta.Object, version string) bool {
	return o != nil && strings.Contains(string(o.JSON), `"apiVersion":"example.com/`+version+`"`)
}
