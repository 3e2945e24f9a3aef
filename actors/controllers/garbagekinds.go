package controllers

import (
	"context"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A following is the look at the objects of one kind, by one kind after the other where its
// definition changes.
type kindWatch struct {
	kind   *schema.Kind
	epochs int // that there have been; read when the look has ended
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// watchAllKinds tells the graph of the objects of all kinds that there are at a time.
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

// watchKind begins to tell the graph of the objects of a kind.
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
