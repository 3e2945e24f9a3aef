package reconcile

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A Claimer adopts and releases dependents of Owner that Selects selects.
// It is made for one turn and used by one goroutine: mayOwn is asked once and holds for that turn.
type Claimer struct {
	Owner   *Item
	Selects func(*Head) bool
	// Finalizer is added to what is adopted and taken from what is released; "" for none.
	Finalizer string

	mayOwn *bool // whether the owner is there and not being deleted; nil before it was asked
}

// NewClaimer returns the Claimer of what the labels of an object select.
func NewClaimer(owner *Item) *Claimer {
	return &Claimer{Owner: owner, Selects: func(h *Head) bool { return owner.Selects(h.Labels) }}
}

// ClaimAll is Claim of whatever is in a cache.
func ClaimAll[T Cached](ctx context.Context, c *Claimer, all *Cache[T]) ([]T, error) {
	return Claim(ctx, c, all, all.OwnedBy(c.Owner.UID), func(T) bool { return true })
}

// Claim is what belongs to an object, of what it controls and what nobody does. It adopts what is selected and
// releases what no longer is; an object that is being deleted does neither.
//
// Who was released, or changed by somebody meanwhile, is looked at again when the cache tells of it, so that is no error.
// A conflict is not tried again here, because the decision was made for the state that was seen. The result has what was
// adopted in the state before its adoption; who needs the newer one asks the cache.
func Claim[T Cached](ctx context.Context, c *Claimer, all *Cache[T], owned []T, adoptable func(T) bool) (mine []T, err error) {
	k := all.Client
	for _, t := range owned {
		h := t.Ref()
		if c.Selects(h) {
			mine = append(mine, t)
			continue
		}
		if c.Owner.Terminating {
			continue
		}
		if err := c.release(ctx, k, h); err != nil {
			return nil, err
		}
	}
	for _, t := range all.Orphans(c.Owner.Key.Namespace) {
		h := t.Ref()
		if h.Terminating || c.Owner.Terminating || !adoptable(t) || !c.Selects(h) {
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
		o, err := c.Owner.client.Get(ctx, c.Owner.Key)
		if err != nil {
			return false, err
		}
		c.mayOwn = new(o != nil && o.Meta.UID == c.Owner.UID && !o.Meta.Terminating)
	}
	return *c.mayOwn, nil
}

// adopt makes the owner the controller of an object. The patch names the version that nobody controlled.
// So of two owners that select the same object only one gets it; the other one meets a conflict and looks again.
func (c *Claimer) adopt(ctx context.Context, k Client, h *Head) (bool, error) {
	if ok, err := c.mayAdopt(ctx); !ok || err != nil {
		return false, err
	}
	return c.patch(ctx, k, h, func(references, finalizers []any) ([]any, []any) {
		references = append(references, c.Owner.ControllerReference())
		if c.Finalizer != "" {
			finalizers = append(finalizers, c.Finalizer)
		}
		return references, finalizers
	})
}

// release takes the owner out of the references of an object, and the finalizer with it. The object stays, and another
// owner may adopt it.
func (c *Claimer) release(ctx context.Context, k Client, h *Head) error {
	_, err := c.patch(ctx, k, h, func(references, finalizers []any) ([]any, []any) {
		return slices.DeleteFunc(references, func(r any) bool {
			reference, _ := r.(tree.Tree)
			return reference.String("uid") == c.Owner.UID
		}), finalizers
	})
	return err
}

// patch changes owners and finalizers of an object in the version that is known; false if it is another one by now.
// The lists are replaced as a whole, as a merge patch can do nothing else; hence they are read from the store in the
// same version that the patch names.
func (c *Claimer) patch(ctx context.Context, k Client, h *Head, change func(references, finalizers []any) ([]any, []any)) (bool, error) {
	o, t, err := k.Read(ctx, h.Key)
	if err != nil || o == nil || o.Version != h.Version {
		return false, err
	}
	metadata := t.Object("metadata")
	finalizers := metadata.List("finalizers")
	if c.Finalizer != "" {
		finalizers = WithoutItem(finalizers, c.Finalizer)
	}
	references, finalizers := change(metadata.List("ownerReferences"), finalizers)
	_, err = k.PatchExisting(ctx, o, "", tree.Tree{"metadata": tree.Tree{"ownerReferences": references, "finalizers": finalizers}})
	if IsNotFound(err) || IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}

// ControlledBy tells whether an object controls another one.
func (h *Head) ControlledBy(uid string) bool { return h.Controller != nil && h.Controller.UID == uid }
