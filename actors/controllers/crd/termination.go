package crd

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxInlineDeletes is the maximum number of custom resources that deleting a CRD removes before the
// request returns, because clients expect small CRDs to be deleted immediately. More are deleted in
// the background.
const maxInlineDeletes = 1000

// terminate deletes the objects of a terminating CRD and then removes the cleanup finalizer. It
// sets draining, so that later events do not start a second goroutine for the same CRD.
func (c *Controller) terminate(ctx context.Context, known *definition) {
	if known.draining || !slices.Contains(known.object.Meta.Finalizers, c.finalizer) {
		return
	}
	made := c.Kinds.Definition(known.object.Key.Name)
	if made == nil {
		known.draining = c.removeFinalizer(ctx, known.object) != nil
		return
	}
	listed, err := c.ClientOf(made.Stored).List(ctx, request.List{Limit: maxInlineDeletes + 1})
	if err == nil && len(listed) <= maxInlineDeletes && c.deleteObjects(ctx, made.Stored, known.object) {
		return
	}
	known.draining = true
	if !made.Stored.Origin.Draining {
		if draining := c.Kinds.Compile(known.tree); draining != nil { // reports the termination to clients
			c.register(draining)
			made = draining
		}
	}
	o := known.object
	c.cleanups.Go(func() { c.drain(ctx, made.Stored, o) })
}

func (c *Controller) drain(ctx context.Context, k *schema.Kind, o *meta.Object) {
	c.report(ctx, "cannot update the status of a CustomResourceDefinition", o, c.tellDraining(ctx, o))
	reconcile.Poll(ctx, reconcile.MinDrainDelay, reconcile.MaxDrainDelay, func() bool { return c.deleteObjects(ctx, k, o) })
}

func (c *Controller) tellDraining(ctx context.Context, o *meta.Object) error {
	object, err := c.definitions.Decode(o)
	if err != nil {
		return err
	}
	conditions := object.Object("status").List("conditions")
	if c := tree.FindCondition(object.Object("status"), "Terminating"); c != nil {
		c["reason"], c["message"] = "InstanceDeletionInProgress", "CustomResource deletion is in progress"
	}
	return c.definitions.PatchStatus(ctx, o, tree.Tree{"conditions": conditions})
}

// deleteObjects deletes the objects of a kind. If none remains, it removes the finalizer from the
// CRD. It does not log conflicts, because the next attempt reads the changed CRD.
func (c *Controller) deleteObjects(ctx context.Context, k *schema.Kind, o *meta.Object) (done bool) {
	listing, err := c.store.DeleteCollection(ctx, request.List{Kind: k}, request.Mutation{Kind: k, Change: request.Delete{}})
	if err == nil && len(listing.Items) > 0 {
		listing, err = c.store.List(ctx, request.List{Kind: k.Unconverted(), Limit: 1})
	}
	if err == nil && len(listing.Items) == 0 {
		err = c.removeFinalizer(ctx, o)
		done = err == nil
	}
	c.report(ctx, "cannot delete the objects of a CustomResourceDefinition", o, err)
	return done
}

// removeFinalizer removes the cleanup finalizer from a CRD. If it was the last finalizer, the CRD
// no longer exists, and its kinds are unregistered without waiting for the watch.
func (c *Controller) removeFinalizer(ctx context.Context, o *meta.Object) error {
	current, err := c.definitions.Get(ctx, o.Key)
	if err != nil || current == nil || current.Meta.UID != o.Meta.UID {
		return err
	}
	if err := c.definitions.As("").RemoveFinalizer(ctx, current, c.finalizer); err != nil {
		return err
	}
	made := c.Kinds.Definition(o.Key.Name)
	if current, err := c.definitions.Get(ctx, o.Key); err == nil && current == nil && made != nil {
		c.withdraw(made)
	}
	return nil
}
