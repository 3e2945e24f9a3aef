package garbagecollector

import (
	"context"
	"sync"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// kindWatch is the watch of one kind. It restarts when a CRD change replaces the schema.Kind.
type kindWatch struct {
	kind   *schema.Kind
	epochs int // watches started so far; owned by the watch's goroutine, and by others after stop
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

func (g *Controller) watchAllKinds(ctx context.Context) {
	changed, kinds := g.Kinds.Changed(), g.Kinds.StorageKinds()
	// Set the counter before any watch starts, because the first watches could otherwise decrement
	// it to zero before all are counted.
	g.unsynced.Store(int64(len(kinds)))
	var watches []*kindWatch
	for first := true; ; first = false {
		watches = g.watchKinds(ctx, watches, kinds, first)
		select {
		case <-ctx.Done():
			for _, f := range watches {
				f.stop()
			}
			return
		case <-changed:
			changed, kinds = g.Kinds.Changed(), g.Kinds.StorageKinds()
		}
	}
}

// watchKinds starts and stops watches to match the served kinds. Both lists are in the order of
// StorageKinds, so a single pass finds the differences.
func (g *Controller) watchKinds(ctx context.Context, watches []*kindWatch, kinds []*schema.Kind, first bool) []*kindWatch {
	kept := make([]*kindWatch, 0, len(kinds))
	for _, k := range kinds {
		for len(watches) > 0 && watches[0].kind != k && watches[0].kind.Storage.Compare(k.Storage) < 0 {
			g.endFormer(watches[0])
			watches = watches[1:]
		}
		f := &kindWatch{}
		if len(watches) > 0 && (watches[0].kind == k || watches[0].kind.Storage == k.Storage) {
			f, watches = watches[0], watches[1:]
		}
		kept = append(kept, f)
		// A changed CRD is compiled into a new Kind, so an equal pointer means no change.
		if f.kind == k {
			continue
		}
		if f.kind != nil {
			f.stop()
		}
		g.watchKind(ctx, f, k, first)
	}
	for _, f := range watches {
		g.endFormer(f)
	}
	return kept
}

// endFormer ends the watch of a kind that is no longer served. All objects of the kind count as
// deleted, even if the watch did not deliver the deletions.
func (g *Controller) endFormer(f *kindWatch) {
	f.stop()
	g.customKinds.add(f.kind.Versions) // in case it was dropped
	g.Add(g.graph.removeKind(f.kind)...)
}

// stop cancels the watch and blocks until it has ended, so that no more events arrive.
func (f *kindWatch) stop() {
	f.cancel()
	f.ended.Wait()
}

// watchKind starts the watch of a kind. If counts is set, Run waits for the initial events of this
// watch.
func (g *Controller) watchKind(ctx context.Context, f *kindWatch, k *schema.Kind, counts bool) {
	ctx, f.cancel = context.WithCancel(ctx)
	f.kind = k
	if k.IsCustom() {
		g.customKinds.add(k.Versions)
	}
	f.ended.Go(func() {
		g.ClientOf(k).InlineWatchLoop(ctx, func(int) func([]request.Event) error {
			f.epochs++
			return (&ownerWatch{g, k, f.epochs, counts}).take
		})
	})
}
