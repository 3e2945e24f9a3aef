package policyobjects

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

func (r *Reader) Inform(ctx context.Context, resource meta.GroupResource, onChange func(policy.Change)) error {
	storage, source := r.kinds.storage(resource), kindSource{&r.kinds, resource}
	observed := r.newObserver(storage)
	advance := func(version uint64) {
		observed.Advance(version)
		r.changes.Add(1)
	}
	f := reconcile.Informer{Client: r.env.ClientOf(nil), Version: advance, On: func(e reconcile.Event) {
		change := policy.Change{Object: &policy.Object{Key: e.Key, Version: e.Version, Meta: e.Meta}, Deleted: true}
		if k := source.Kind(); !e.Deleted && k != nil {
			// Report an unreadable object as deleted, so that its previous version no longer
			// applies.
			if object := r.decodeShared(k, e.Object); object != nil {
				change = policy.Change{Object: object}
			}
		}
		onChange(change)
		advance(e.Version)
	}}
	go func() {
		defer r.removeObserver(storage, observed)
		f.RunResource(ctx, source)
	}()
	if !f.Wait(ctx) {
		return ctx.Err()
	}
	return nil
}
