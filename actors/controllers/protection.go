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

// Protection removes its finalizer from objects of one kind that are being deleted, as soon as they
// are not in use.
type Protection struct {
	store     Store
	kind      *schema.Kind
	userKind  *schema.Kind // kind of the objects that may use them; nil if the status of an object says whether it is in use
	finalizer string
	inUse     func(ctx context.Context, o *meta.Object) (bool, error)
	logger    *slog.Logger

	queue   *workqueue[meta.Key]
	mu      sync.Mutex        // guards pending
	pending map[meta.Key]bool // objects being deleted that may be in use
}

func newProtection(store Store, k *schema.Kind, finalizer string, logger *slog.Logger) *Protection {
	return &Protection{store: store, kind: k, finalizer: finalizer, logger: logger,
		queue: newWorkqueue[meta.Key](), pending: map[meta.Key]bool{}}
}

// NewVolumeProtection protects PersistentVolumes that are bound to a claim.
func NewVolumeProtection(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	p := newProtection(store, coreKind(kinds, "PersistentVolume"),
		kinds.Naming().Translate(admission.PVProtectionFinalizer), logger)
	p.inUse = func(_ context.Context, o *meta.Object) (bool, error) {
		object, err := codec.DecodeStored(p.kind.Message, o.JSON)
		return object.Object("status").String("phase") == "Bound", err
	}
	return p
}

// NewVolumeClaimProtection protects PersistentVolumeClaims that Pods use.
func NewVolumeClaimProtection(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	p := newProtection(store, coreKind(kinds, "PersistentVolumeClaim"),
		kinds.Naming().Translate(admission.PVCProtectionFinalizer), logger)
	p.userKind = coreKind(kinds, "Pod")
	p.inUse = p.usedByPod
	return p
}

// Run runs the controller until the context ends.
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

// onUser enqueues the pending objects in the namespace of a user that has changed: it may have been
// the last user of any of them.
func (p *Protection) onUser(o *meta.Object, _ bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.pending {
		if key.Namespace == o.Key.Namespace {
			p.queue.add(key)
		}
	}
}

// removeFinalizerIfUnused removes the finalizer from an object that is not in use. The object is
// marked pending before its users are listed: otherwise the delete of the last user, between list and
// mark, would go unnoticed.
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

// hasFinalizer reports whether an object is being deleted and has the finalizer.
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

// usedByPod reports whether a scheduled Pod uses a claim. An unscheduled Pod does not count, because
// it is not scheduled while its claim is being deleted.
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

// podUsesClaim reports whether a Pod has a claim among its volumes, by name or as an ephemeral volume.
func podUsesClaim(pod string, spec tree.Tree, claim string) bool {
	for _, volume := range spec.Objects("volumes") {
		if volume.Object("persistentVolumeClaim").String("claimName") == claim ||
			volume.Has("ephemeral") && pod+"-"+volume.String("name") == claim {
			return true
		}
	}
	return false
}
