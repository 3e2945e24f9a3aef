package daemon

import (
	"context"
	"log/slog"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
)

// objects shows policy what the store holds.
type objects struct {
	store  *actors.Store
	naming *meta.Naming
	log    *slog.Logger
	kinds  map[meta.GroupResource]*schema.Kind // that are stored
}

func newObjects(store *actors.Store, kinds *catalog.Catalog, naming *meta.Naming, log *slog.Logger) *objects {
	o := &objects{store: store, naming: naming, log: log, kinds: map[meta.GroupResource]*schema.Kind{}}
	for _, k := range kinds.Stored() {
		o.kinds[k.Storage] = k
	}
	return o
}

// kind is that of a resource in platform form; nil if it is not served.
func (o *objects) kind(r meta.GroupResource) *schema.Kind {
	return o.kinds[meta.GroupResource{Group: o.naming.Name(r.Group), Resource: r.Resource}]
}

// read parses a stored object; nil, and a line in the log, if it cannot be read.
func (o *objects) read(k *schema.Kind, stored *meta.Object) *policy.Object {
	tree, err := codec.DecodeStored(k.Message, stored.JSON)
	if err != nil {
		o.log.Error("policy: a stored object cannot be read", "object", stored.Key, "error", err)
		return nil
	}
	return &policy.Object{Key: stored.Key, Head: stored.Head, Tree: tree}
}

// Get implements policy.Objects.
func (o *objects) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	k := o.kind(r)
	if k == nil {
		return nil
	}
	stored, err := o.store.Get(context.Background(), request.Get{
		Kind: k, Key: meta.Key{GroupResource: k.Storage, Namespace: namespace, Name: name},
	})
	if err != nil { // there is no such object
		return nil
	}
	return o.read(k, stored)
}

// List implements policy.Objects.
func (o *objects) List(r meta.GroupResource, namespace string) []*policy.Object {
	k := o.kind(r)
	if k == nil {
		return nil
	}
	listing, err := o.store.List(context.Background(), request.List{Kind: k, Namespace: namespace})
	if err != nil {
		o.log.Error("policy: objects cannot be listed", "resource", r, "error", err)
	}
	all := make([]*policy.Object, 0, len(listing.Items))
	for _, stored := range listing.Items {
		if read := o.read(k, stored); read != nil {
			all = append(all, read)
		}
	}
	return all
}

// Follow implements policy.Objects.
func (o *objects) Follow(ctx context.Context, r meta.GroupResource, see func(policy.Change)) error {
	k := o.kind(r)
	if k == nil {
		return nil
	}
	f := &follower{objects: o, kind: k, see: see, known: map[meta.Key]int{}, complete: make(chan struct{})}
	go f.run(ctx)
	select {
	case <-f.complete:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A follower is the sink of one Follow. A watch that ends is begun anew, with all that there
// is; what was known and has not come again by then has gone meanwhile.
type follower struct {
	objects  *objects
	kind     *schema.Kind
	see      func(policy.Change)
	known    map[meta.Key]int // the round in which an object was last seen
	round    int
	ended    chan struct{}
	complete chan struct{} // closed when the first round has been read
}

func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		f.round++
		f.ended = make(chan struct{})
		session, err := f.objects.store.Watch(ctx, request.Watch{Kind: f.kind, Initial: true, InitialEnd: true}, f)
		if err != nil {
			return // the store is closing
		}
		select {
		case <-ctx.Done():
		case <-f.ended:
		}
		session.Stop()
		<-f.ended
	}
}

// Events implements request.Sink.
func (f *follower) Events(events []request.Event) error {
	for i := range events {
		switch e := &events[i]; {
		case e.InitialEnd:
			f.sweep()
		case e.Type == request.Deleted:
			delete(f.known, e.Object.Key)
			f.see(policy.Change{Object: &policy.Object{Key: e.Object.Key, Head: e.Object.Head}, Gone: true})
		case e.Type == request.Added, e.Type == request.Modified:
			if read := f.objects.read(f.kind, e.Object); read != nil {
				f.known[e.Object.Key] = f.round
				f.see(policy.Change{Object: read})
			}
		}
	}
	return nil
}

// sweep is called when a round has shown all that there is.
func (f *follower) sweep() {
	if f.round == 1 {
		close(f.complete)
		return
	}
	for key, round := range f.known {
		if round < f.round {
			delete(f.known, key)
			f.see(policy.Change{Object: &policy.Object{Key: key}, Gone: true})
		}
	}
}

// Done implements request.Sink.
func (f *follower) Done() { close(f.ended) }
