package daemon

import (
	"context"
	"log/slog"
	"sync"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers"
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

	mu       sync.Mutex // guards progress
	progress map[meta.GroupResource]*controllers.Progress
}

func newObjects(store *actors.Store, kinds *catalog.Catalog, naming *meta.Naming, log *slog.Logger) *objects {
	o := &objects{store: store, naming: naming, log: log, kinds: map[meta.GroupResource]*schema.Kind{},
		progress: map[meta.GroupResource]*controllers.Progress{}}
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

// find is a stored object and its kind; nil if there is none, or no such resource is served.
func (o *objects) find(r meta.GroupResource, namespace, name string) (*schema.Kind, *meta.Object) {
	k := o.kind(r)
	if k == nil {
		return nil, nil
	}
	stored, err := o.store.Get(context.Background(), request.Get{
		Kind: k, Key: meta.Key{GroupResource: k.Storage, Namespace: namespace, Name: name},
	})
	if err != nil { // there is no such object
		return nil, nil
	}
	return k, stored
}

// Get implements policy.Objects.
func (o *objects) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	k, stored := o.find(r, namespace, name)
	if stored == nil {
		return nil
	}
	return o.read(k, stored)
}

// Head implements serviceaccount.Objects.
func (o *objects) Head(r meta.GroupResource, namespace, name string) (meta.Head, bool) {
	_, stored := o.find(r, namespace, name)
	if stored == nil {
		return meta.Head{}, false
	}
	return stored.Head, true
}

// Follow implements policy.Objects.
func (o *objects) Follow(ctx context.Context, r meta.GroupResource, see func(policy.Change)) error {
	k := o.kind(r)
	if k == nil {
		return nil
	}
	w := &witness{objects: o, kind: k, see: see, progress: o.followed(k.Storage), complete: make(chan struct{})}
	go controllers.Follow(ctx, o.store, k, w)
	select {
	case <-w.complete:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A witness is the observer of one Follow.
type witness struct {
	objects  *objects
	kind     *schema.Kind
	see      func(policy.Change)
	progress *controllers.Progress
	complete chan struct{} // closed when all that there was has been seen
}

// See implements controllers.Observer.
func (w *witness) See(stored *meta.Object, gone bool) {
	read := (*policy.Object)(nil)
	if !gone {
		read = w.objects.read(w.kind, stored)
	}
	if read == nil { // of what cannot be read nothing may count any more
		w.see(policy.Change{Object: &policy.Object{Key: stored.Key, Head: stored.Head}, Gone: true})
	} else {
		w.see(policy.Change{Object: read})
	}
	w.progress.Reach(stored.Version)
}

// Read implements controllers.Observer.
func (w *witness) Read() { close(w.complete) }
