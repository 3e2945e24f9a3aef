package daemon

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy"
)

// TestRoleChangesAreObserved: a change of roles is not answered before who follows them has seen
// it, one of anything else is.
func TestRoleChangesAreObserved(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := persist.Open("/data", persist.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	store, err := actors.Open(actors.Options{Log: journal, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(store.Close(ctx), journal.Close()); err != nil {
			t.Error(err)
		}
	}()
	o := newObjectReader(store, kinds, meta.Platform, slog.New(slog.DiscardHandler))
	saw, goOn := make(chan string), make(chan struct{})
	see := func(c policy.Change) {
		saw <- c.Key.Name
		<-goOn
	}
	if err := o.Inform(ctx, meta.GroupResource{Group: rbacGroup, Resource: "clusterroles"}, see); err != nil {
		t.Fatal(err)
	}
	s := barrierStore{store, o, controllers.NewDefinitions(store, kinds, slog.New(slog.DiscardHandler))}
	role, namespace := kinds.Kind(rbacGroup, "v1", "clusterroles"), kinds.Kind("", "v1", "namespaces")
	create := func(k *schema.Kind, name string) func() error {
		return func() error {
			_, err := s.Mutate(ctx, request.Mutation{
				Verb: request.Create, Kind: k, Key: meta.Key{Name: name}, Object: tree.Tree{"metadata": tree.Tree{"name": name}},
			})
			return err
		}
	}
	check(t, "a", create(role, "a"), saw, goOn)
	check(t, "b", create(role, "b"), saw, goOn)
	check(t, "a", func() error {
		_, err := s.Mutate(ctx, request.Mutation{Verb: request.Delete, Kind: role, Key: meta.Key{Name: "a"}})
		return err
	}, saw, goOn)
	check(t, "b", func() error {
		_, err := s.DeleteCollection(ctx, request.List{Kind: role}, request.Mutation{Verb: request.Delete, Kind: role})
		return err
	}, saw, goOn)
	if err := create(namespace, "n")(); err != nil { // nobody follows
		t.Error(err)
	}
}

// check makes a change, and holds its answer back as long as who follows looks at it.
func check(t *testing.T, name string, change func() error, saw chan string, goOn chan struct{}) {
	t.Helper()
	answered := make(chan error, 1)
	go func() { answered <- change() }()
	if seen := <-saw; seen != name {
		t.Errorf("%s was seen instead of %s", seen, name)
	}
	select {
	case err := <-answered:
		t.Errorf("the change of %s was answered before it was seen: %v", name, err)
	case <-time.After(20 * time.Millisecond): // an answer that does not wait is here long before
	}
	goOn <- struct{}{}
	if t.Failed() {
		return
	}
	if err := <-answered; err != nil {
		t.Errorf("%s: %v", name, err)
	}
}
