package tokens

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A keptConfigMap creates a ConfigMap, reverts changes to it, and recreates it after deletion.
type keptConfigMap struct {
	*reconcile.Controller[meta.Key]
	maps    reconcile.Client
	manager string
	key     meta.Key
	// data returns the desired changes to the data of object, which is nil if the ConfigMap does
	// not exist.
	data func(object tree.Tree) tree.Tree
}

func newKeptConfigMap(env *reconcile.Env, namespace, name string, data func(object tree.Tree) tree.Tree) *keptConfigMap {
	c := &keptConfigMap{manager: env.Translate("platform-apiserver"), data: data}
	c.maps = env.Core("ConfigMap").As(c.manager)
	c.key = c.maps.Key(namespace, name)
	c.Controller = reconcile.New(env, "", c.ensure, "cannot maintain a ConfigMap of the server", "key")
	f := c.Watch(c.maps, func(e reconcile.Event) {
		if e.Key == c.key {
			c.Add(c.key)
		}
	})
	f.Name, f.Synced = name, func() { c.Add(c.key) }
	return c
}

// ensure creates or corrects the ConfigMap. It deletes an immutable ConfigMap, and the resulting
// watch event triggers its recreation.
func (c *keptConfigMap) ensure(ctx context.Context, _ meta.Key) error {
	o, object, err := c.maps.Read(ctx, c.key)
	if err != nil {
		return err
	}
	changes := c.data(object)
	switch {
	case o == nil:
		_, err := c.maps.Create(ctx, tree.Tree{"metadata": tree.Tree{"namespace": c.key.Namespace, "name": c.key.Name}, "data": changes})
		return reconcile.Except(err, reconcile.IsAlreadyExists)
	case len(changes) == 0:
		return nil
	}
	err = c.maps.Patch(ctx, o, "", tree.Tree{"data": changes})
	if reconcile.IsImmutable(err, object) {
		err = c.maps.Delete(ctx, o)
	}
	return reconcile.Except(err, reconcile.IsConflict)
}
