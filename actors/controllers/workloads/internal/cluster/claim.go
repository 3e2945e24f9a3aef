package cluster

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ControllerReference is an owner reference to an object that controls what holds it.
func (i *Item) ControllerReference() tree.Tree {
	return tree.Tree{
		"apiVersion": i.kind.APIVersion(), "kind": i.kind.Kind, "name": i.Key.Name, "uid": i.UID, "controller": true, "blockOwnerDeletion": true,
	}
}

// A Claimer adopts and releases dependents of one object.
// It is made for one turn and used by one goroutine: mayOwn is asked once and holds for that turn.
type Claimer struct {
	cluster *Cluster
	owner   *Item
	selects func(*Head) bool
	mayOwn  *bool // whether the owner is there and not being deleted; nil before it was asked
	// finalizer is added to what is adopted and taken from what is released; "" for none.
	finalizer string
}

// Claimer is that of an object whose dependents are those that selects tells.
func (c *Cluster) Claimer(owner *Item, finalizer string, selects func(*Head) bool) *Claimer {
	return &Claimer{cluster: c, owner: owner, selects: selects, finalizer: finalizer}
}

// Claim is what belongs to an object, of what it controls and what nobody does. It adopts what is selected and
// releases what no longer is; an object that is being deleted does neither.
//
// Who was released, or changed by somebody meanwhile, is looked at again when the cache tells of it, so that is no error.
// A conflict is not tried again here, because the decision was made for the state that was seen. The result has what was
// adopted in the state before its adoption; who needs the newer one asks the cache.
func Claim[T Cached](ctx context.Context, c *Claimer, k *schema.Kind, owned, orphans []T, adoptable func(T) bool) (mine []T, err error) {
	for _, t := range owned {
		h := t.Ref()
		if c.selects(h) {
			mine = append(mine, t)
			continue
		}
		if c.owner.Terminating {
			continue
		}
		if err := c.release(ctx, k, h); err != nil {
			return nil, err
		}
	}
	for _, t := range orphans {
		h := t.Ref()
		if h.Terminating || c.owner.Terminating || !adoptable(t) || !c.selects(h) {
			continue
		}
		ok, err := c.adopt(ctx, k, h)
		if err != nil {
			return nil, err
		}
		if ok {
			mine = append(mine, t)
		}
	}
	return mine, nil
}

// mayAdopt looks whether the owner is still there, in the store: an object that is being deleted must not take over
// what its deletion has just orphaned.
func (c *Claimer) mayAdopt(ctx context.Context) (bool, error) {
	if c.mayOwn == nil {
		o, err := c.cluster.Read(ctx, c.owner.kind, c.owner.Key)
		if err != nil {
			return false, err
		}
		ok := o != nil && o.Meta.UID == c.owner.UID && !o.Meta.Terminating
		c.mayOwn = &ok
	}
	return *c.mayOwn, nil
}

// adopt makes the owner the controller of an object. The patch names the version that nobody controlled.
// So of two owners that select the same object only one gets it; the other one meets a conflict and looks again.
func (c *Claimer) adopt(ctx context.Context, k *schema.Kind, h *Head) (bool, error) {
	if ok, err := c.mayAdopt(ctx); !ok || err != nil {
		return false, err
	}
	return c.patch(ctx, k, h, func(references, finalizers []any) ([]any, []any) {
		references = append(references, c.owner.ControllerReference())
		if c.finalizer != "" {
			finalizers = append(reconcile.WithoutItem(finalizers, c.finalizer), c.finalizer)
		}
		return references, finalizers
	})
}

// release takes the owner out of the references of an object, and the finalizer with it. The object stays, and another
// owner may adopt it.
func (c *Claimer) release(ctx context.Context, k *schema.Kind, h *Head) error {
	_, err := c.patch(ctx, k, h, func(references, finalizers []any) ([]any, []any) {
		var kept []any
		for _, r := range references {
			if reference, _ := r.(tree.Tree); reference.String("uid") != c.owner.UID {
				kept = append(kept, r)
			}
		}
		if c.finalizer != "" {
			finalizers = reconcile.WithoutItem(finalizers, c.finalizer)
		}
		return kept, finalizers
	})
	return err
}

// patch changes owners and finalizers of an object in the version that is known; false if it is another one by now.
// The lists are replaced as a whole, as a merge patch can do nothing else; hence they are read from the store in the
// same version that the patch names.
func (c *Claimer) patch(ctx context.Context, k *schema.Kind, h *Head, change func(references, finalizers []any) ([]any, []any)) (bool, error) {
	o, err := c.cluster.Read(ctx, k, h.Key)
	if err != nil || o == nil || o.Version != h.Version {
		return false, err
	}
	t, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		return false, err
	}
	metadata := t.Object("metadata")
	references, finalizers := change(metadata.List("ownerReferences"), metadata.List("finalizers"))
	_, err = c.cluster.Patch(ctx, k, h, h.Version, "", tree.Tree{"metadata": tree.Tree{"ownerReferences": references, "finalizers": finalizers}})
	if reconcile.IsNotFound(err) || reconcile.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}

// ControlledBy tells whether an object controls another one.
func (h *Head) ControlledBy(uid string) bool { return h.Controller != nil && h.Controller.UID == uid }
