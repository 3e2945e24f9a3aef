package admissionpolicy

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// maxParamKinds limits the number of param kinds, because all objects of each kind are kept in
// memory.
const maxParamKinds = 256

// Kinds looks up served kinds.
type Kinds interface {
	ByGVK(k meta.GroupVersionKind) *schema.Kind
	Serves(k *schema.Kind) bool
	// Changed returns a channel that is closed at the next change of the served kinds.
	Changed() <-chan struct{}
}

// Params caches the objects of all param kinds and is shared by all Sources. A Source calls want
// while it holds its own lock, so the lock order is Source.mu, then Params.mu.
type Params struct {
	kinds Kinds

	mu      sync.Mutex // guards the fields below; not held while reading a new kind
	ctx     context.Context
	objects policy.Objects
	wanted  map[*Source]map[meta.GroupVersionKind]bool
	kept    map[meta.GroupVersionKind]*paramKind

	resources atomic.Pointer[map[meta.GroupResource]bool] // all cached storages
}

type paramKind struct {
	namespaced bool
	storage    meta.GroupResource
	objects    *policy.Cache[param]
	stop       context.CancelFunc
	known      chan struct{} // closed when the initial objects have been read or the kind is dropped
}

type param struct {
	labels meta.Labels
	tree   tree.Tree
}

// NewParams returns empty Params.
func NewParams(kinds Kinds) *Params {
	return &Params{kinds: kinds, wanted: map[*Source]map[meta.GroupVersionKind]bool{}, kept: map[meta.GroupVersionKind]*paramKind{}}
}

func (p *Params) kind(gvk meta.GroupVersionKind) *schema.Kind {
	if k := p.kinds.ByGVK(gvk); k != nil && p.kinds.Serves(k) {
		return k
	}
	return nil
}

// Follows reports whether policies use the objects of a storage resource as params. A write of such
// an object must not return until the policies use the new state.
func (p *Params) Follows(storage meta.GroupResource) bool {
	all := p.resources.Load()
	return all != nil && (*all)[storage]
}

func (p *Params) begin(ctx context.Context, objects policy.Objects) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctx, p.objects = ctx, objects
}

func (p *Params) want(s *Source, wanted map[meta.GroupVersionKind]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted[s] = wanted
	p.update()
}

func (p *Params) refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.update()
}

// await blocks until the objects of the kind gvk have been read. It returns immediately if the kind
// is not cached. If gvk is nil, it blocks until all cached kinds have been read.
func (p *Params) await(gvk *meta.GroupVersionKind) {
	p.mu.Lock()
	var all []*paramKind
	for kind, kept := range p.kept {
		if gvk == nil || kind == *gvk {
			all = append(all, kept)
		}
	}
	p.mu.Unlock()
	for _, kept := range all {
		<-kept.known
	}
}

// update starts and stops the caching of kinds according to wanted. It caches at most maxParamKinds
// kinds. Policies that use another kind fail, because they must not run without their params. The
// caller holds mu.
func (p *Params) update() {
	wanted := map[meta.GroupVersionKind]bool{}
	for _, of := range p.wanted {
		maps.Copy(wanted, of)
	}
	for gvk, kept := range p.kept {
		k := p.kind(gvk)
		if !wanted[gvk] || k == nil || k.Storage != kept.storage || k.Namespaced != kept.namespaced {
			kept.stop()
			delete(p.kept, gvk)
		}
	}
	for gvk := range wanted {
		if k := p.kind(gvk); k != nil && p.kept[gvk] == nil && len(p.kept) < maxParamKinds {
			p.kept[gvk] = p.follow(gvk, k)
		}
	}
	resources := map[meta.GroupResource]bool{}
	for _, kept := range p.kept {
		resources[kept.storage] = true
	}
	p.resources.Store(&resources)
}

// follow starts caching a kind. It does not wait for the objects, because the caller holds a lock
// that would delay all other policies.
func (p *Params) follow(gvk meta.GroupVersionKind, k *schema.Kind) *paramKind {
	ctx, stop := context.WithCancel(p.ctx)
	kept := &paramKind{namespaced: k.Namespaced, storage: k.Storage, stop: stop, known: make(chan struct{})}
	kept.objects = policy.NewCache(k.Storage, func(o *policy.Object) param {
		return param{o.Meta.Labels, p.form(gvk, o.Tree)}
	})
	objects := p.objects
	go func() {
		defer close(kept.known)
		if kept.objects.Follow(ctx, objects) != nil {
			stop() // ctx has ended, so the kind is no longer used
		}
	}()
	return kept
}

func (p *Params) form(gvk meta.GroupVersionKind, stored tree.Tree) tree.Tree {
	k := p.kind(gvk)
	if k == nil || k.ConversionWebhook() != nil && stored.String("apiVersion") != k.APIVersion() {
		return nil // only a webhook could convert from the stored version
	}
	shown := maps.Clone(convert.FromStored(k, nil, stored))
	shown["apiVersion"], shown["kind"] = k.APIVersion(), k.Kind
	return shown
}

var errReading = errors.New("the objects of the paramKind are being read")

// get returns a kind's cache, or errReading while its objects are being read.
func (p *Params) get(gvk meta.GroupVersionKind) (*paramKind, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch kept := p.kept[gvk]; {
	case kept != nil:
		select {
		case <-kept.known:
			return kept, nil
		default:
			return nil, errReading
		}
	case len(p.kept) >= maxParamKinds:
		return nil, errors.New("policies take parameters from too many kinds")
	}
	return nil, errUnknownKind(gvk)
}
