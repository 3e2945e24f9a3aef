package controllers

import (
	"context"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// few is how many objects are deleted while who has deleted their definition waits for it.
const few = 1000

// end empties a definition that is being deleted, and lets it go.
func (d *Definitions) end(ctx context.Context, known *definition) {
	if known.busy || !slices.Contains(known.object.Head.Finalizers, d.finalizer) {
		return
	}
	made := d.kinds.Defined(known.object.Key.Name)
	if made == nil {
		known.busy = d.release(ctx, known.object) != nil
		return
	}
	listing, err := d.store.List(ctx, request.List{Kind: made.Stored, Limit: few + 1})
	if err == nil && len(listing.Items) <= few && d.empty(ctx, made.Stored, known.object) {
		return
	}
	known.busy = true
	o := known.object
	d.cleaning.Go(func() { d.finish(ctx, made.Stored, o) })
}

// finish empties a definition whose objects are many, or wait for finalizers of others.
func (d *Definitions) finish(ctx context.Context, k *schema.Kind, o *meta.Object) {
	for pause := firstPause; ctx.Err() == nil && !d.empty(ctx, k, o); pause = min(2*pause, lastPause) {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// empty deletes the objects of a kind, and lets its definition go when nothing is left.
func (d *Definitions) empty(ctx context.Context, k *schema.Kind, o *meta.Object) (done bool) {
	listing, err := d.store.DeleteCollection(ctx, request.List{Kind: k}, request.Mutation{Kind: k})
	if err == nil && len(listing.Items) > 0 {
		listing, err = d.store.List(ctx, request.List{Kind: k, Limit: 1})
	}
	if err == nil && len(listing.Items) == 0 {
		err = d.release(ctx, o)
		done = err == nil
	}
	if err != nil && ctx.Err() == nil && !overtaken(err) {
		d.logger.Warn("deleting the objects of a definition", "definition", o.Key.Name, "error", err)
	}
	return done
}

// release takes the finalizer off a definition, and ends its kinds if that lets it go.
func (d *Definitions) release(ctx context.Context, o *meta.Object) error {
	at := request.Get{Kind: d.kind, Key: o.Key}
	current, err := d.store.Get(ctx, at)
	if gone(err) || err == nil && current.Head.UID != o.Head.UID {
		return nil
	}
	if err == nil {
		err = unhold(ctx, d.store, d.kind, current, d.finalizer)
	}
	if err != nil {
		return err
	}
	made := d.kinds.Defined(o.Key.Name)
	if _, err := d.store.Get(ctx, at); gone(err) && made != nil {
		d.kinds.Undefine(o.Key.Name)
		d.store.Abandon(made.Stored)
	}
	return nil
}
