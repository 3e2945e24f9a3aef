package controllers

import (
	"context"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxInlineDeletes is how many objects are deleted while who has deleted their definition waits for it.
const maxInlineDeletes = 1000

// terminate empties a definition that is being deleted, and lets it go.
func (d *Definitions) terminate(ctx context.Context, known *definition) {
	if known.draining || !slices.Contains(known.object.Meta.Finalizers, d.finalizer) {
		return
	}
	made := d.kinds.Definition(known.object.Key.Name)
	if made == nil {
		known.draining = d.removeFinalizer(ctx, known.object) != nil
		return
	}
	listing, err := d.store.List(ctx, request.List{Kind: made.Stored, Limit: maxInlineDeletes + 1})
	if err == nil && len(listing.Items) <= maxInlineDeletes && d.deleteObjects(ctx, made.Stored, known.object) {
		return
	}
	known.draining = true
	o := known.object
	d.cleanups.Go(func() { d.drain(ctx, made.Stored, o) })
}

// drain empties a definition whose objects are many, or wait for finalizers of others.
func (d *Definitions) drain(ctx context.Context, k *schema.Kind, o *meta.Object) {
	for pause := minPollInterval; ctx.Err() == nil && !d.deleteObjects(ctx, k, o); pause = min(2*pause, maxPollInterval) {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// deleteObjects deletes the objects of a kind, and lets its definition go when nothing is left.
func (d *Definitions) deleteObjects(ctx context.Context, k *schema.Kind, o *meta.Object) (done bool) {
	listing, err := d.store.DeleteCollection(ctx, request.List{Kind: k}, request.Mutation{Kind: k})
	if err == nil && len(listing.Items) > 0 {
		listing, err = d.store.List(ctx, request.List{Kind: k, Limit: 1})
	}
	if err == nil && len(listing.Items) == 0 {
		err = d.removeFinalizer(ctx, o)
		done = err == nil
	}
	if err != nil && ctx.Err() == nil && !isConflict(err) {
		d.logger.Warn("deleting the objects of a definition", "definition", o.Key.Name, "error", err)
	}
	return done
}

// removeFinalizer takes the finalizer off a definition, and ends its kinds if that lets it go.
func (d *Definitions) removeFinalizer(ctx context.Context, o *meta.Object) error {
	at := request.Get{Kind: d.kind, Key: o.Key}
	current, err := d.store.Get(ctx, at)
	if isNotFound(err) || err == nil && current.Meta.UID != o.Meta.UID {
		return nil
	}
	if err == nil {
		err = removeFinalizer(ctx, d.store, d.kind, current, d.finalizer)
	}
	if err != nil {
		return err
	}
	made := d.kinds.Definition(o.Key.Name)
	if _, err := d.store.Get(ctx, at); isNotFound(err) && made != nil {
		d.kinds.RemoveDefinition(o.Key.Name)
		d.store.UnregisterKind(made.Stored)
	}
	return nil
}
