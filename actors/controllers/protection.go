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
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// A Protection takes its finalizer off objects of one kind that are being deleted, once they
// are no longer in use.
type Protection struct {
	store     Store
	kind      *schema.Kind
	userKind  *schema.Kind // whose objects may use them; nil if an object itself says whether it is in use
	finalizer string
	inUse     func(ctx context.Context, o *meta.Object) (bool, error)
	logger    *slog.Logger

	queue   *workqueue[meta.Key]
	mu      sync.Mutex // guards held
	pending map[meta.Key]bool
}

func newProtection(store Store, k *schema.Kind, finalizer string, logger *slog.Logger) *Protection {
	return &Protection{store: store, kind: k, finalizer: finalizer, logger: logger,
		queue: newWorkqueue[meta.Key](), pending: map[meta.Key]bool{}}
}

// NewVolumeProtection protects volumes that are bound to a claim.
func NewVolumeProtection(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	p := newProtection(store, coreKind(kinds, "PersistentVolume"),
		kinds.Naming().Translate(admission.PVProtectionFinalizer), logger)
	p.inUse = func(_ context.Context, o *meta.Object) (bool, error) {
		object, err := codec.DecodeStored(p.kind.Message, o.JSON)
		return object.Object("status").String("phase") == "Bound", err
	}
	return p
}

// NewVolumeClaimProtection protects claims that Pods use.
func NewVolumeClaimProtection(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	p := newProtection(store, coreKind(kinds, "PersistentVolumeClaim"),
		kinds.Naming().Translate(admission.PVCProtectionFinalizer), logger)
	p.userKind = coreKind(kinds, "Pod")
	p.inUse = p.usedByPod
	return p
}

// Run works until the context ends.
func (p *Protection) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { RunInformer(ctx, p.store, p.kind, eventHandlerFunc(p.onObject)) })
	if p.userKind != nil {
		running.Go(func() { RunInformer(ctx, p.store, p.userKind, eventHandlerFunc(p.onUser)) })
	}
	p.queue.run(ctx, p.removeFinalizerIfUnused, func(key meta.Key, err error) {
		p.logger.Warn("an object stays protected", "key", key.String(), "error", err)
	})
}

func (p *Protection) onObject(o *meta.Object, gone bool) {
	switch {
	case gone:
		p.setPending(o.Key, false)
	case p.hasFinalizer(o):
		p.queue.add(cloneKey(o.Key))
	}
}

// onUser: a user that changes may have let something go in its namespace.
func (p *Protection) onUser(o *meta.Object, _ bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.pending {
		if key.Namespace == o.Key.Namespace {
			p.queue.add(key)
		}
	}
}

// removeFinalizerIfUnused takes the finalizer off an object, unless it is in use. It is held before the look, so
// that a user who goes meanwhile brings it back.
func (p *Protection) removeFinalizerIfUnused(ctx context.Context, key meta.Key) error {
	o, err := p.store.Get(ctx, request.Get{Kind: p.kind, Key: key})
	if isNotFound(err) || err == nil && !p.hasFinalizer(o) {
		p.setPending(key, false)
		return nil
	}
	if err != nil {
		return err
	}
	p.setPending(key, true)
	if used, err := p.inUse(ctx, o); used || err != nil {
		return err
	}
	return removeFinalizer(ctx, p.store, p.kind, o, p.finalizer)
}

// hasFinalizer tells whether an object is being deleted and has the finalizer.
func (p *Protection) hasFinalizer(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, p.finalizer)
}

func (p *Protection) setPending(key meta.Key, pending bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pending {
		p.pending[key] = true
	} else {
		delete(p.pending, key)
	}
}

// usedByPod tells whether a Pod that has a node uses a claim. One that has none yet cannot start
// with a claim that is being deleted.
func (p *Protection) usedByPod(ctx context.Context, claim *meta.Object) (bool, error) {
	pods, err := p.store.List(ctx, request.List{Kind: p.userKind, Namespace: claim.Key.Namespace})
	if err != nil {
		return false, err
	}
	for _, o := range pods.Items {
		pod, err := codec.DecodeStored(p.userKind.Message, o.JSON)
		if err != nil {
			return false, err
		}
		spec := pod.Object("spec")
		if spec.String("nodeName") != "" && podUsesClaim(o.Key.Name, spec, claim.Key.Name) {
			return true, nil
		}
	}
	return false, nil
}

// podUsesClaim tells whether a Pod has a claim among its volumes, by its name or as its own one.
func podUsesClaim(pod string, spec tree.Tree, claim string) bool {
	for _, volume := range spec.Objects("volumes") {
		if volume.Object("persistentVolumeClaim").String("claimName") == claim ||
			volume.Has("ephemeral") && pod+"-"+volume.String("name") == claim {
			return true
		}
	}
	return false
}
