package controllers

import (
	"context"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// kindWatch is the watch of the objects of one kind. It is restarted when the definition of the kind
// changes, which replaces the schema.Kind.
type kindWatch struct {
	kind   *schema.Kind
	epochs int // watches begun so far; belongs to the watch's goroutine, and to others after stop
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// watchAllKinds keeps a watch for every kind of the catalogue, until the context ends.
func (g *GarbageCollector) watchAllKinds(ctx context.Context) {
	changed, kinds := g.kinds.Changed(), g.kinds.StorageKinds()
	g.unsynced.Store(int64(len(kinds)))
	watches := map[meta.GroupResource]*kindWatch{}
	for first := true; ; first = false {
		for _, k := range kinds {
			f := watches[k.Storage]
			switch {
			case f == nil:
				f = &kindWatch{}
				watches[k.Storage] = f
			case f.kind == k:
				continue
			default:
				f.stop()
			}
			g.watchKind(ctx, f, k, first)
		}
		select {
		case <-ctx.Done():
			for _, f := range watches {
				f.stop()
			}
			return
		case <-changed:
			changed, kinds = g.kinds.Changed(), g.kinds.StorageKinds()
		}
	}
}

func (f *kindWatch) stop() {
	f.cancel()
	f.ended.Wait()
}

// watchKind starts the watch of a kind. counts says that Run waits for its initial events.
func (g *GarbageCollector) watchKind(ctx context.Context, f *kindWatch, k *schema.Kind, counts bool) {
	ctx, f.cancel = context.WithCancel(ctx)
	f.kind = k
	for _, form := range k.Versions {
		g.formerKinds.Store(form.GroupVersionKind, form)
	}
	f.ended.Go(func() {
		watchLoop(ctx, g.store, k, func(int) func([]request.Event) error {
			f.epochs++
			return (&ownerWatch{g, k, f.epochs, counts}).take
		})
	})
}
