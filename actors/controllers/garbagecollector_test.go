package controllers

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/troupe-api/troupe/actors/controllers/crd"
	"github.com/troupe-api/troupe/actors/controllers/garbagecollector"
	"github.com/troupe-api/troupe/kinds/request"
)

// lateWatch is a store that delays watches of one resource.
type lateWatch struct {
	*testStore
	resource string
	begin    chan struct{}
}

func (l lateWatch) Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error) {
	if r.Kind.Resource == l.resource {
		select {
		case <-l.begin:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return l.testStore.Watch(ctx, r, sink)
}

// TestOwnerBeforeItsKindIsWatched checks that dependents are collected if their owner was deleted
// before its kind was watched, or if the owner never existed and its kind appears later.
func TestOwnerBeforeItsKindIsWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		begin := make(chan struct{})
		definitions := crd.New(w, w.kinds, discardLogger)
		defer runControllers(garbagecollector.New(NewEnv(lateWatch{w, "things", begin}, w.kinds, discardLogger)), definitions)()
		w.perform(`create 1 Secret {"metadata":{"name":"of-none","ownerReferences":[{"apiVersion":"example.com/v1","kind":"Thing","name":"never","uid":"none"}]}}`)
		synctest.Wait()
		w.perform(`create 1 CustomResourceDefinition {"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},` +
			`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
		definitions.Wait(t.Context(), w.Version())
		w.perform(`create 1 Thing {"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"short"}}`,
			`create 1 Secret {"metadata":{"name":"of-short","ownerReferences":[{"apiVersion":"example.com/v1","kind":"Thing","name":"short","uid":"uid:Thing/short"}]}}`)
		synctest.Wait()
		w.perform(`delete 1 Thing short`)
		synctest.Wait()
		if n := w.count("Secret", `"name":"of-`); n != 2 {
			t.Errorf("%d dependents are left before the kind of their owners is watched", n)
		}
		close(begin)
		w.waitUntil("both go", func() bool { return w.count("Secret", `"name":"of-`) == 0 })
	})
}
