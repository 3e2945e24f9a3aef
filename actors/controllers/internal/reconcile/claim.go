package reconcile

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A Claimer adopts and releases dependents of Owner. Selects reports whether an object matches. A
// Claimer serves one reconciliation and is not safe for concurrent use.
type Claimer struct {
	Owner   *Item
	Selects func(*Head) bool
	// Finalizer, if not empty, is added to adopted objects and removed from released objects.
	Finalizer string

	mayOwn *bool // whether the owner exists and is not terminating; nil if not checked yet
}

// NewClaimer returns a Claimer that matches objects by the owner's label selector.
func NewClaimer(owner *Item) *Claimer {
	return &Claimer{Owner: owner, Selects: func(h *Head) bool { return owner.Selects(h.Labels) }}
}

// ClaimAll calls Claim for all objects in a cache.
func ClaimAll[T Cached](ctx context.Context, c *Claimer, all *Cache[T]) ([]T, error) {
	return Claim(ctx, c, all, all.OwnedBy(c.Owner.UID), func(T) bool { return true })
}

// Claim returns the objects that the Claimer's owner controls. It adopts matching orphans and
// releases objects that no longer match, unless the owner is terminating.
//
// It skips objects that have changed since they were cached, because their watch events trigger
// another attempt. It returns adopted objects in their state before the adoption.
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

// mayAdopt reports whether the owner still exists in the store and is not terminating. Otherwise,
// an owner could adopt objects that its own deletion just orphaned.
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

// adopt makes the owner the controller of an object. It returns false if the object has changed
// since it was cached, so that only one of several matching owners succeeds.
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

func (c *Claimer) release(ctx context.Context, k Client, h *Head) error {
	_, err := c.patch(ctx, k, h, func(references, finalizers []any) ([]any, []any) {
		return slices.DeleteFunc(references, func(r any) bool {
			reference, _ := r.(tree.Tree)
			return reference.String("uid") == c.Owner.UID
		}), finalizers
	})
	return err
}

// patch changes an object's owner references and finalizers. It first reads both lists, because a
// merge patch replaces them. It returns false if the object has changed since it was cached.
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

// ControlledBy reports whether the object's controller has the given uid.
func (h *Head) ControlledBy(uid string) bool { return h.Controller != nil && h.Controller.UID == uid }
