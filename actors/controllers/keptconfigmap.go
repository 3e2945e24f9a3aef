package controllers

import (
	"context"
	"log/slog"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A keptConfigMap is a ConfigMap that there must be: it is created, corrected when somebody changes it, and created again
// when it is deleted.
type keptConfigMap struct {
	store   Store
	kind    *schema.Kind
	key     meta.Key
	manager string // field manager
	// data is what has to change in the data of the ConfigMap as it is, or in none; empty: nothing.
	data   func(object tree.Tree) tree.Tree
	queue  *reconcile.Workqueue[meta.Key]
	logger *slog.Logger
}

func newKeptConfigMap(store Store, kinds *catalog.Catalog, namespace, name string, logger *slog.Logger) *keptConfigMap {
	k := reconcile.CoreKind(kinds, "ConfigMap")
	return &keptConfigMap{
		store: store, kind: k, queue: reconcile.NewWorkqueue[meta.Key](), logger: logger,
		key:     meta.Key{GroupResource: k.Storage, Namespace: namespace, Name: name},
		manager: kinds.Naming().Translate("platform-apiserver"),
	}
}

// Run keeps it until the context ends.
func (c *keptConfigMap) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		reconcile.RunNamedInformer(ctx, c.store, c.kind, c.key.Name, reconcile.EventHandlerFunc(func(e reconcile.Event) {
			if e.Key == c.key {
				c.queue.Add(c.key)
			}
		}))
	})
	c.queue.Add(c.key)
	c.queue.Run(ctx, c.ensure, func(_ meta.Key, err error) {
		c.logger.Warn("a ConfigMap of the server is missing or out of date", "key", c.key.String(), "error", err)
	})
}

// ensure creates the ConfigMap or corrects it. One that is immutable cannot be corrected, so it is deleted, and the watch has
// it made anew.
func (c *keptConfigMap) ensure(ctx context.Context, _ meta.Key) error {
	o, object, err := reconcile.Read(ctx, c.store, c.kind, c.key)
	if err != nil {
		return err
	}
	changes := c.data(object)
	if o == nil {
		return c.create(ctx, changes)
	}
	if len(changes) == 0 {
		return nil
	}
	err = reconcile.PatchAs(ctx, c.store, c.manager, c.kind, o, "", tree.Tree{"data": changes})
	if reconcile.IsImmutable(err, object) {
		err = reconcile.DeleteIfUnchanged(ctx, c.store, c.kind, o, "")
	}
	if reconcile.IsConflict(err) {
		return nil // the watch tells of the change
	}
	return err
}

func (c *keptConfigMap) create(ctx context.Context, data tree.Tree) error {
	_, err := c.store.Mutate(ctx, request.Mutation{
		Kind: c.kind, Key: c.key, FieldManager: c.manager,
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"namespace": c.key.Namespace, "name": c.key.Name}, "data": data}},
	})
	if reconcile.HasReason(err, meta.ReasonAlreadyExists) {
		return nil
	}
	return err
}
