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
type following struct {
	kind   *schema.Kind
	rounds int // that there have been; read when the look has ended
	end    context.CancelFunc
	ended  sync.WaitGroup
}

// followAll tells the graph of the objects of all kinds that there are at a time.
func (g *Garbage) followAll(ctx context.Context) {
	changed, kinds := g.kinds.Changed(), g.kinds.Stored()
	g.unread.Store(int64(len(kinds)))
	followed := map[meta.GroupResource]*following{}
	for first := true; ; first = false {
		for _, k := range kinds {
			f := followed[k.Storage]
			switch {
			case f == nil:
				f = &following{}
				followed[k.Storage] = f
			case f.kind == k:
				continue
			default:
				f.stop()
			}
			g.follow(ctx, f, k, first)
		}
		select {
		case <-ctx.Done():
			for _, f := range followed {
				f.stop()
			}
			return
		case <-changed:
			changed, kinds = g.kinds.Changed(), g.kinds.Stored()
		}
	}
}

func (f *following) stop() {
	f.end()
	f.ended.Wait()
}

// follow begins to tell the graph of the objects of a kind.
func (g *Garbage) follow(ctx context.Context, f *following, k *schema.Kind, counts bool) {
	ctx, f.end = context.WithCancel(ctx)
	f.kind = k
	for _, form := range k.Forms {
		g.former.Store(form.GroupVersionKind, form)
	}
	f.ended.Go(func() {
		rounds(ctx, g.store, k, func(int) func([]request.Event) error {
			f.rounds++
			return (&kinship{g, k, f.rounds, counts}).take
		})
	})
}
