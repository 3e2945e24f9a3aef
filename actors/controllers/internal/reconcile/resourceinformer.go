package reconcile

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// KindSource returns the kind in which the objects of a resource are stored. It changes when the
// definition of a custom resource is created, changed or deleted.
type KindSource interface {
	// Changed returns a channel that is closed when the result of Kind may differ from what it was before
	// this call.
	Changed() <-chan struct{}
	// Kind returns the kind in effect; nil while the resource is not defined.
	Kind() *schema.Kind
}

// RunResourceInformer is RunInformer for a resource that may be undefined. When its kind changes, all
// objects are delivered again in the new version; when its definition is deleted, all objects are
// reported as gone. An undefined resource counts as synced, because it has no objects.
func RunResourceInformer(ctx context.Context, store Store, source KindSource, handler EventHandler) {
	f := &informer{handler: handler, known: map[meta.Key]int{}}
	for ctx.Err() == nil {
		changed, k := source.Changed(), source.Kind()
		if k == nil {
			f.epoch++
			f.deleteStale()
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		if !f.runUntilChanged(ctx, store, source, k) {
			return
		}
	}
}

// runUntilChanged watches one kind. It returns true when the resource has another kind now, false
// when the context has ended or the store is closing.
func (f *informer) runUntilChanged(ctx context.Context, store Store, source KindSource, k *schema.Kind) (changed bool) {
	if k.IsCustom() { // built-in kinds never change
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go cancelWhenChanged(ctx, cancel, source, k)
	}
	WatchLoop(ctx, store, k, func(int) func([]request.Event) error {
		f.epoch++
		return f.take
	})
	return source.Kind() != k
}

// cancelWhenChanged cancels the context when a resource is no longer stored as k.
func cancelWhenChanged(ctx context.Context, cancel context.CancelFunc, source KindSource, k *schema.Kind) {
	for {
		changed := source.Changed()
		if source.Kind() != k {
			cancel()
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
