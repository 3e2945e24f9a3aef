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

// maxParamKinds bounds the kinds whose objects are kept in memory, because policies take parameters from
// them. Each kind costs the memory of all its objects.
const maxParamKinds = 256

// Kinds finds the kinds that are served.
type Kinds interface {
	ByGVK(k meta.GroupVersionKind) *schema.Kind
	Serves(k *schema.Kind) bool
	// Changed is closed by the next change of what is served.
	Changed() <-chan struct{}
}

// Params keep the objects of the kinds that policies take parameters from, as long as a policy does. All
// Sources share one. want is called under the lock of its Source, so mu is always taken second.
type Params struct {
	kinds Kinds

	mu      sync.Mutex // guards the rest; it is not held while a new kind is read
	ctx     context.Context
	objects policy.Objects
	wanted  map[*Source]map[meta.GroupVersionKind]bool
	kept    map[meta.GroupVersionKind]*paramKind

	resources atomic.Pointer[map[meta.GroupResource]bool] // of all that are kept
}

// A paramKind is one kind with its objects.
type paramKind struct {
	namespaced bool
	storage    meta.GroupResource
	objects    *policy.Cache[param]
	stop       context.CancelFunc
	known      chan struct{} // closed when all objects are known that there were, or nobody wants them any more
}

// A param is one object, in the form of its kind.
type param struct {
	labels meta.Labels
	tree   tree.Tree
}

// NewParams makes Params that keep nothing yet.
func NewParams(kinds Kinds) *Params {
	return &Params{kinds: kinds, wanted: map[*Source]map[meta.GroupVersionKind]bool{}, kept: map[meta.GroupVersionKind]*paramKind{}}
}

// kind is a kind that is served; nil if it is not.
func (p *Params) kind(gvk meta.GroupVersionKind) *schema.Kind {
	if k := p.kinds.ByGVK(gvk); k != nil && p.kinds.Serves(k) {
		return k
	}
	return nil
}

// Follows tells whether policies take parameters from the objects of a storage: then an answer to a write of these has to
// wait until it is in effect.
func (p *Params) Follows(storage meta.GroupResource) bool {
	all := p.resources.Load()
	return all != nil && (*all)[storage]
}

// begin tells where objects are read, until ctx ends.
func (p *Params) begin(ctx context.Context, objects policy.Objects) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctx, p.objects = ctx, objects
}

// want says which kinds the policies of a source take parameters from.
func (p *Params) want(s *Source, wanted map[meta.GroupVersionKind]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted[s] = wanted
	p.update()
}

// refresh looks again which of the wanted kinds are served.
func (p *Params) refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.update()
}

// await waits until the objects of a kind are known, if it is kept; nil is for all kinds.
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

// update brings kept in line with wanted, for a caller who holds mu. A kind beyond the bound makes its
// policies fail rather than be evaluated without parameters.
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

// follow begins to keep the objects of a kind. It waits for none: there may be many, and who holds the mutex keeps
// all other policies from coming into force.
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
			stop() // which only the end of ctx brings about: then nobody asks for the kind
		}
	}()
	return kept
}

// form is a stored object as its kind shows it; nil if the kind is not served any more, or cannot be converted to.
func (p *Params) form(gvk meta.GroupVersionKind, stored tree.Tree) tree.Tree {
	k := p.kind(gvk)
	if k == nil || k.ConversionWebhook() != nil && stored.String("apiVersion") != k.APIVersion() {
		return nil // of another version than it is read in, which only a webhook could convert
	}
	shown := maps.Clone(convert.FromStored(k, nil, stored))
	shown["apiVersion"], shown["kind"] = k.APIVersion(), k.Kind
	return shown
}

// errReading says that the objects of a kind are not known yet.
var errReading = errors.New("the objects of the paramKind are being read")

// get is a kind with its objects. The error is errReading while they are not known.
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
