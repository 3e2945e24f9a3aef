package policyobjects

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers/crd"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

type cluster struct {
	t      *testing.T
	ctx    context.Context
	kinds  *catalog.Catalog
	reader *Reader
	opts   actors.ClientStoreOptions
	store  *actors.ClientStore
}

func newCluster(t *testing.T, naming *meta.Naming) *cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	kinds := must.Get(catalog.New(naming))(t)
	journal := must.Get(persist.Open("/data", persist.Options{FS: vfs.NewMem()}))(t)
	store := must.Get(actors.Open(actors.Options{Log: journal, Catalog: kinds, Naming: naming, Tuning: actors.DefaultTuning()}))(t)
	log := slog.New(slog.DiscardHandler)
	definitions := crd.New(store, kinds, log)
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		definitions.Run(running)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if err := errors.Join(store.Close(ctx), journal.Close()); err != nil {
			t.Error(err)
		}
		cancel()
	})
	c := &cluster{t: t, ctx: running, kinds: kinds, reader: NewReader(store, kinds, log, nil)}
	roles := map[meta.GroupResource]bool{}
	for _, r := range rbac.Resources() {
		roles[c.reader.Storage(r)] = true
	}
	c.opts = actors.ClientStoreOptions{Definitions: definitions, Observers: c.reader, IsObserved: func(storage meta.GroupResource) bool { return roles[storage] }}
	c.store = actors.NewClientStore(store, c.opts)
	return c
}

func (c *cluster) create(k *schema.Kind, namespace string, object tree.Tree) error {
	name := object.Object("metadata").String("name")
	_, err := c.store.Mutate(c.ctx, request.Mutation{
		Kind: k, Key: meta.Key{Namespace: namespace, Name: name}, Change: request.Create{Object: object},
	})
	return err
}

func (c *cluster) delete(k *schema.Kind, namespace, name string) error {
	_, err := c.store.Mutate(c.ctx, request.Mutation{Kind: k, Key: meta.Key{Namespace: namespace, Name: name}, Change: request.Delete{}})
	return err
}

func (c *cluster) must(err error) {
	c.t.Helper()
	must.Succeed(c.t, err)
}

func named(name string) tree.Tree { return tree.Tree{"metadata": tree.Tree{"name": name}} }
