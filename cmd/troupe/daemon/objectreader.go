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

// objectReader shows policy what the store holds.
type objectReader struct {
	store  *actors.Store
	naming *meta.Naming
	log    *slog.Logger
	kinds  map[meta.GroupResource]*schema.Kind // that are stored

	mu       sync.Mutex // guards progress
	observed map[meta.GroupResource]*controllers.ObservedRevision
}

func newObjectReader(store *actors.Store, kinds *catalog.Catalog, naming *meta.Naming, log *slog.Logger) *objectReader {
	o := &objectReader{store: store, naming: naming, log: log, kinds: map[meta.GroupResource]*schema.Kind{},
		observed: map[meta.GroupResource]*controllers.ObservedRevision{}}
	for _, k := range kinds.StorageKinds() {
		o.kinds[k.Storage] = k
	}
	return o
}

// kind is that of a resource in platform form; nil if it is not served.
func (o *objectReader) kind(r meta.GroupResource) *schema.Kind {
	return o.kinds[meta.GroupResource{Group: o.naming.Translate(r.Group), Resource: r.Resource}]
}

// decode parses a stored object; nil, and a line in the log, if it cannot be read.
func (o *objectReader) decode(k *schema.Kind, stored *meta.Object) *policy.Object {
	tree, err := codec.DecodeStored(k.Message, stored.JSON)
	if err != nil {
		o.log.Error("policy: a stored object cannot be read", "object", stored.Key, "error", err)
		return nil
	}
	return &policy.Object{Key: stored.Key, Meta: stored.Meta, Tree: tree}
}

// find is a stored object and its kind; nil if there is none, or no such resource is served.
func (o *objectReader) find(r meta.GroupResource, namespace, name string) (*schema.Kind, *meta.Object) {
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
func (o *objectReader) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	k, stored := o.find(r, namespace, name)
	if stored == nil {
		return nil
	}
	return o.decode(k, stored)
}

// GetMeta implements serviceaccount.Objects.
func (o *objectReader) GetMeta(r meta.GroupResource, namespace, name string) (meta.ObjectMeta, bool) {
	_, stored := o.find(r, namespace, name)
	if stored == nil {
		return meta.ObjectMeta{}, false
	}
	return stored.Meta, true
}

// Inform implements policy.Objects.
func (o *objectReader) Inform(ctx context.Context, r meta.GroupResource, onChange func(policy.Change)) error {
	k := o.kind(r)
	if k == nil {
		return nil
	}
	w := &follower{reader: o, kind: k, onChange: onChange, observed: o.observedRevision(k.Storage), synced: make(chan struct{})}
	go controllers.RunInformer(ctx, o.store, k, w)
	select {
	case <-w.synced:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A witness is the observer of one Follow.
type follower struct {
	reader   *objectReader
	kind     *schema.Kind
	onChange func(policy.Change)
	observed *controllers.ObservedRevision
	synced   chan struct{} // closed when all that there was has been seen
}

// OnEvent implements controllers.Observer.
func (w *follower) OnEvent(stored *meta.Object, gone bool) {
	read := (*policy.Object)(nil)
	if !gone {
		read = w.reader.decode(w.kind, stored)
	}
	if read == nil { // of what cannot be read nothing may count any more
		w.onChange(policy.Change{Object: &policy.Object{Key: stored.Key, Meta: stored.Meta}, Deleted: true})
	} else {
		w.onChange(policy.Change{Object: read})
	}
	w.observed.Advance(stored.Version)
}

// OnSynced implements controllers.Observer.
func (w *follower) OnSynced() { close(w.synced) }
