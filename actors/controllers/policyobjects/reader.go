package policyobjects

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// A Reader gives policy access to the store. It is safe for concurrent use.
type Reader struct {
	store *actors.Store
	env   *reconcile.Env
	kinds kindIndex
	log   *slog.Logger

	decoded *Decoded // may be nil

	changes atomic.Uint64

	mu       sync.Mutex // guards observed
	observed map[meta.GroupResource][]*reconcile.ObservedRevision
}

var (
	_ policy.Objects         = (*Reader)(nil)
	_ serviceaccount.Objects = (*Reader)(nil)
	_ actors.Observers       = (*Reader)(nil)
)

// NewReader returns a Reader for store that looks up kinds in a catalog. decoded may be nil.
func NewReader(store *actors.Store, kinds *catalog.Catalog, log *slog.Logger, decoded *Decoded) *Reader {
	return &Reader{
		store: store, env: reconcile.NewEnv(store, kinds, log), kinds: kindIndex{catalog: kinds}, log: log, decoded: decoded,
		observed: map[meta.GroupResource][]*reconcile.ObservedRevision{},
	}
}

// Storage translates the group of a resource from the platform naming profile to that of the
// server, which the store uses.
func (r *Reader) Storage(resource meta.GroupResource) meta.GroupResource {
	return r.kinds.storage(resource)
}

func (r *Reader) find(resource meta.GroupResource, namespace, name string) (*schema.Kind, *meta.Object) {
	k := r.kinds.kind(resource)
	if k == nil {
		return nil, nil
	}
	stored, err := r.store.Get(context.Background(), request.Get{
		Kind: k, Key: meta.Key{GroupResource: k.Storage, Namespace: namespace, Name: name},
	})
	if err != nil { // the object does not exist
		return nil, nil
	}
	return k, stored
}

func (r *Reader) Get(resource meta.GroupResource, namespace, name string) *policy.Object {
	k, stored := r.find(resource, namespace, name)
	if stored == nil {
		return nil
	}
	return r.decode(k, stored)
}

func (r *Reader) GetMeta(resource meta.GroupResource, namespace, name string) (meta.ObjectMeta, bool) {
	_, stored := r.find(resource, namespace, name)
	if stored == nil {
		return meta.ObjectMeta{}, false
	}
	return stored.Meta, true
}

// CollectionVersion returns a function that returns the version of the newest visible change to a
// resource's objects, or 0 while the resource is not served.
func (r *Reader) CollectionVersion(resource meta.GroupResource) func() uint64 {
	storage := r.kinds.storage(resource)
	return func() uint64 { return r.store.CollectionVersion(storage) }
}

func (r *Reader) decode(k *schema.Kind, stored *meta.Object) *policy.Object {
	tree, err := codec.DecodeStored(k.Message(), stored.JSON)
	if err != nil {
		r.log.Error("cannot decode a stored object", "object", stored.Key, "error", err)
		return nil
	}
	return &policy.Object{Key: stored.Key, Version: stored.Version, Meta: stored.Meta, Tree: tree}
}

func (r *Reader) newObserver(storage meta.GroupResource) *reconcile.ObservedRevision {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &reconcile.ObservedRevision{}
	r.observed[storage] = append(r.observed[storage], o)
	return o
}

func (r *Reader) removeObserver(storage meta.GroupResource, o *reconcile.ObservedRevision) {
	r.mu.Lock()
	r.observed[storage] = slices.DeleteFunc(slices.Clone(r.observed[storage]), func(other *reconcile.ObservedRevision) bool { return other == o })
	r.mu.Unlock()
	o.Advance(math.MaxUint64)
}

func (r *Reader) CatchUp(ctx context.Context) {
	r.mu.Lock()
	all := maps.Clone(r.observed)
	r.mu.Unlock()
	for storage := range all {
		r.Wait(ctx, storage, r.store.CollectionVersion(storage))
	}
}

func (r *Reader) IsCaughtUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for storage, all := range r.observed {
		version := r.store.CollectionVersion(storage)
		for _, o := range all {
			if !o.HasSeen(version) {
				return false
			}
		}
	}
	return true
}

func (r *Reader) Changes() uint64 { return r.changes.Load() }

func (r *Reader) Wait(ctx context.Context, storage meta.GroupResource, version uint64) {
	r.mu.Lock()
	all := r.observed[storage]
	r.mu.Unlock()
	for _, o := range all {
		o.Wait(ctx, version)
	}
}
