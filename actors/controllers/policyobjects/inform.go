package policyobjects

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

// Inform implements policy.Objects.
func (r *Reader) Inform(ctx context.Context, resource meta.GroupResource, onChange func(policy.Change)) error {
	storage := r.kinds.storage(resource)
	h := &eventHandler{
		reader: r, source: kindSource{&r.kinds, resource}, onChange: onChange,
		observed: r.newObserver(storage), synced: make(chan struct{}),
	}
	go func() {
		defer r.removeObserver(storage, h.observed)
		reconcile.RunResourceInformer(ctx, r.store, h.source, h)
	}()
	select {
	case <-h.synced:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An eventHandler passes the events of one informer on to policy.
type eventHandler struct {
	reader   *Reader
	source   kindSource
	onChange func(policy.Change)
	observed *controllers.ObservedRevision
	synced   chan struct{} // closed when all that there was has been seen
}

// OnEvent implements reconcile.EventHandler. An object that cannot be read is told to have gone, so
// that nothing it said before counts any longer.
func (h *eventHandler) OnEvent(e reconcile.Event) {
	var object *policy.Object
	if k := h.source.Kind(); !e.Deleted && k != nil {
		object = h.reader.decode(k, e.Object)
	}
	if object != nil {
		h.onChange(policy.Change{Object: object})
	} else {
		h.onChange(policy.Change{Object: &policy.Object{Key: e.Key, Version: e.Version, Meta: e.Meta}, Deleted: true})
	}
	h.advance(e.Version)
}

// OnVersion implements reconcile.VersionHandler.
func (h *eventHandler) OnVersion(version uint64) { h.advance(version) }

// advance records that policy has seen a version.
func (h *eventHandler) advance(version uint64) {
	h.observed.Advance(version)
	h.reader.changes.Add(1)
}

// OnSynced implements reconcile.EventHandler.
func (h *eventHandler) OnSynced() { close(h.synced) }
