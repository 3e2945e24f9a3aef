package controllers

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
)

// A Protection takes its finalizer off objects of one kind that are being deleted, once they
// are no longer in use.
type Protection struct {
	store     Store
	kind      *schema.Kind
	users     *schema.Kind // whose objects may use them; nil if an object itself says whether it is in use
	finalizer string
	inUse     func(ctx context.Context, o *meta.Object) (bool, error)
	logger    *slog.Logger

	waiting *backlog[meta.Key]
	mu      sync.Mutex // guards held
	held    map[meta.Key]bool
}

func newProtection(store Store, k *schema.Kind, finalizer string, logger *slog.Logger) *Protection {
	return &Protection{store: store, kind: k, finalizer: finalizer, logger: logger,
		waiting: newBacklog[meta.Key](), held: map[meta.Key]bool{}}
}

// NewVolumes protects volumes that are bound to a claim.
func NewVolumes(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	p := newProtection(store, core(kinds, "PersistentVolume"),
		kinds.Naming().Name(admission.VolumeProtection), logger)
	p.inUse = func(_ context.Context, o *meta.Object) (bool, error) {
		tree, err := codec.DecodeStored(p.kind.Message, o.JSON)
		return rules.Text(rules.Sub(tree, "status"), "phase") == "Bound", err
	}
	return p
}

// NewClaims protects claims that Pods use.
func NewClaims(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	p := newProtection(store, core(kinds, "PersistentVolumeClaim"),
		kinds.Naming().Name(admission.ClaimProtection), logger)
	p.users = core(kinds, "Pod")
	p.inUse = p.mounted
	return p
}

// Run works until the context ends.
func (p *Protection) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { Follow(ctx, p.store, p.kind, observer(p.see)) })
	if p.users != nil {
		running.Go(func() { Follow(ctx, p.store, p.users, observer(p.seeUser)) })
	}
	p.waiting.serve(ctx, p.release, func(key meta.Key, err error) {
		p.logger.Warn("an object stays protected", "key", key.String(), "error", err)
	})
}

func (p *Protection) see(o *meta.Object, gone bool) {
	switch {
	case gone:
		p.keep(o.Key, false)
	case p.holds(o):
		p.waiting.add(own(o.Key))
	}
}

// seeUser: a user that changes may have let something go in its namespace.
func (p *Protection) seeUser(o *meta.Object, _ bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.held {
		if key.Namespace == o.Key.Namespace {
			p.waiting.add(key)
		}
	}
}

// release takes the finalizer off an object, unless it is in use. It is held before the look, so
// that a user who goes meanwhile brings it back.
func (p *Protection) release(ctx context.Context, key meta.Key) error {
	o, err := p.store.Get(ctx, request.Get{Kind: p.kind, Key: key})
	if gone(err) || err == nil && !p.holds(o) {
		p.keep(key, false)
		return nil
	}
	if err != nil {
		return err
	}
	p.keep(key, true)
	if used, err := p.inUse(ctx, o); used || err != nil {
		return err
	}
	return unhold(ctx, p.store, p.kind, o, p.finalizer)
}

// holds tells whether an object is being deleted and has the finalizer.
func (p *Protection) holds(o *meta.Object) bool {
	return o.Head.Terminating && slices.Contains(o.Head.Finalizers, p.finalizer)
}

func (p *Protection) keep(key meta.Key, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held {
		p.held[key] = true
	} else {
		delete(p.held, key)
	}
}

// mounted tells whether a Pod that has a node uses a claim. One that has none yet cannot start
// with a claim that is being deleted.
func (p *Protection) mounted(ctx context.Context, claim *meta.Object) (bool, error) {
	pods, err := p.store.List(ctx, request.List{Kind: p.users, Namespace: claim.Key.Namespace})
	if err != nil {
		return false, err
	}
	for _, o := range pods.Items {
		pod, err := codec.DecodeStored(p.users.Message, o.JSON)
		if err != nil {
			return false, err
		}
		spec := rules.Sub(pod, "spec")
		if rules.Text(spec, "nodeName") != "" && mounts(o.Key.Name, spec, claim.Key.Name) {
			return true, nil
		}
	}
	return false, nil
}

// mounts tells whether a Pod has a claim among its volumes, by its name or as its own one.
func mounts(pod string, spec schema.Tree, claim string) bool {
	for _, volume := range rules.Trees(spec, "volumes") {
		if rules.Text(rules.Sub(volume, "persistentVolumeClaim"), "claimName") == claim ||
			rules.Has(volume, "ephemeral") && pod+"-"+rules.Text(volume, "name") == claim {
			return true
		}
	}
	return false
}
