package controllers

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/namespaces"
	"github.com/troupe-api/troupe/kinds/request"
)

func TestNamespaceGrace(t *testing.T) {
	const grace = 50 * time.Millisecond
	w := newTestStore(t)
	defer runControllers(namespaces.New(w.env(), nil, grace))()
	w.create("namespaces/n")
	w.create("configmaps/n/c")
	began := time.Now()
	w.delete("namespaces/n")
	w.waitUntil("it is emptied", func() bool { return w.get("configmaps/n/c") == nil })
	if took := time.Since(began); took < grace {
		t.Errorf("it is emptied after %s", took)
	}
	w.waitUntil("it goes", func() bool { return w.get("namespaces/n") == nil })
}

// afterList is a store that calls its happens function once, after the first list of a resource.
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

func TestRecreatedNamespaceIsUntouched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		old := w.create("namespaces/n")
		w.create("configmaps/n/held", "example.com/hold")
		w.delete("namespaces/n")
		store := &afterList{testStore: w, resource: "configmaps", happens: func() {
			w.mutate("namespaces/n", request.Mutation{Subresource: "finalize",
				Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"spec":{"finalizers":[]}}`)}})
			w.patch("configmaps/n/held", `{"metadata":{"finalizers":null}}`)
			w.create("namespaces/n")
			w.create("configmaps/n/new")
		}}
		stop := runControllers(namespaces.New(NewEnv(store, w.kinds, discardLogger), nil, 0))
		time.Sleep(time.Minute)
		stop()
		if store.happens != nil {
			t.Error("the namespace was not drained")
		}
		if o := w.get("namespaces/n"); o == nil || o.Meta.UID == old.Meta.UID || !strings.Contains(string(o.JSON), `"finalizers":["platform"]`) {
			t.Errorf("the new namespace was touched: %v", o)
		}
		if o := w.get("configmaps/n/new"); o == nil || o.Meta.Terminating {
			t.Errorf("what is in the new namespace was touched: %v", o)
		}
	})
}
