package controllers

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

// Protection removes its finalizer from objects of one kind that are being deleted, as soon as they
// are not in use. To others that lack it, for they were created while nothing added it, it adds it.
type Protection struct {
	store     Store
	kind      *schema.Kind
	userKinds []*schema.Kind // kinds of the objects that may use them; none if the status of an object says whether it is in use
	finalizer string
	inUse     func(ctx context.Context, o *meta.Object) (bool, error)
	logger    *slog.Logger

	queue   *reconcile.Workqueue[meta.Key]
	mu      sync.Mutex        // guards pending
	pending map[meta.Key]bool // objects being deleted that may be in use
}

// newProtection makes what the three protections share. The caller sets inUse, and userKinds where objects have users.
func newProtection(store Store, k *schema.Kind, queue, finalizer string, logger *slog.Logger) *Protection {
	return &Protection{store: store, kind: k, finalizer: finalizer, logger: logger,
		queue: reconcile.NewWorkqueue[meta.Key]().Named(queue), pending: map[meta.Key]bool{}}
}

// NewVolumeProtection protects PersistentVolumes that are bound to a claim.
func NewVolumeProtection(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	p := newProtection(store, reconcile.CoreKind(kinds, "PersistentVolume"), "pvprotection",
		kinds.Naming().Translate(plugins.PVProtectionFinalizer), logger)
	p.inUse = func(_ context.Context, o *meta.Object) (bool, error) {
		object, err := codec.DecodeStored(p.kind.Message(), o.JSON)
		return object.Object("status").String("phase") == "Bound", err
	}
	return p
}

// NewVolumeClaimProtection protects PersistentVolumeClaims that Pods use.
func NewVolumeClaimProtection(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	p := newProtection(store, reconcile.CoreKind(kinds, "PersistentVolumeClaim"), "pvcprotection",
		kinds.Naming().Translate(plugins.PVCProtectionFinalizer), logger)
	p.userKinds = []*schema.Kind{reconcile.CoreKind(kinds, "Pod")}
	p.inUse = p.usedByPod
	return p
}

// NewAttributesClassProtection protects VolumeAttributesClasses that volumes or claims use.
func NewAttributesClassProtection(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Protection {
	k := kinds.ByGVK(meta.GroupVersionKind{Group: kinds.Naming().Group("storage"), Version: "v1", Kind: "VolumeAttributesClass"})
	p := newProtection(store, k, "vacprotection", kinds.Naming().Translate(plugins.VACProtectionFinalizer), logger)
	p.userKinds = []*schema.Kind{reconcile.CoreKind(kinds, "PersistentVolume"), reconcile.CoreKind(kinds, "PersistentVolumeClaim")}
	p.inUse = p.usedByVolume
	return p
}

// Run runs the controller until the context ends.
func (p *Protection) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { reconcile.RunInformer(ctx, p.store, p.kind, reconcile.EventHandlerFunc(p.onObject)) })
	for _, k := range p.userKinds {
		running.Go(func() { reconcile.RunInformer(ctx, p.store, k, reconcile.EventHandlerFunc(p.onUser)) })
	}
	p.queue.Run(ctx, p.sync, func(key meta.Key, err error) {
		p.logger.Warn("an object stays protected", "key", key.String(), "error", err)
	})
}

// onObject enqueues only what has something to do. Objects that are protected and not being deleted are most of all.
func (p *Protection) onObject(e reconcile.Event) {
	switch {
	case e.Deleted:
		p.setPending(e.Key, false)
	case p.mayGo(e.Object) || p.isUnprotected(e.Object):
		p.queue.Add(e.Key)
	}
}

// onUser enqueues the pending objects in the namespace of a user that has changed, and those at cluster scope: it may have
// been the last user of any of them.
// All pending objects are looked at, which are few: only those being deleted while in use.
func (p *Protection) onUser(e reconcile.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.pending {
		if key.Namespace == "" || key.Namespace == e.Key.Namespace {
			p.queue.Add(key)
		}
	}
}

// sync adds the finalizer to an object that lacks it, and removes it from one that is being deleted and is not in use.
// That one is marked pending before its users are listed: otherwise the delete of the last user, between list and
// mark, would go unnoticed.
func (p *Protection) sync(ctx context.Context, key meta.Key) error {
	o, err := p.store.Get(ctx, request.Get{Kind: p.kind, Key: key})
	if err != nil && !reconcile.IsNotFound(err) {
		return err
	}
	if err != nil || !p.mayGo(o) {
		p.setPending(key, false)
		if err == nil && p.isUnprotected(o) {
			return reconcile.AddFinalizer(ctx, p.store, p.kind, o, p.finalizer)
		}
		return nil
	}
	// Before inUse, not after: see above. An event in between enqueues the object once more, which does no harm.
	p.setPending(key, true)
	if used, err := p.inUse(ctx, o); used || err != nil {
		return err
	}
	return reconcile.RemoveFinalizer(ctx, p.store, p.kind, o, p.finalizer)
}

// mayGo reports whether an object is being deleted and has the finalizer.
func (p *Protection) mayGo(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, p.finalizer)
}

// isUnprotected reports whether an object is not being deleted and lacks the finalizer.
func (p *Protection) isUnprotected(o *meta.Object) bool {
	return !o.Meta.Terminating && !slices.Contains(o.Meta.Finalizers, p.finalizer)
}

// setPending records whether the object waits for its last user, for onUser to enqueue it again.
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
	return p.anyUser(ctx, claim.Key.Namespace, func(_ meta.Key, pod tree.Tree) bool {
		return pod.Object("spec").String("nodeName") != "" && podUsesClaim(pod, claim)
	})
}

// usedByVolume reports whether a volume or a claim has a class, or is about to get it.
func (p *Protection) usedByVolume(ctx context.Context, class *meta.Object) (bool, error) {
	return p.anyUser(ctx, "", func(_ meta.Key, user tree.Tree) bool {
		status := user.Object("status")
		return slices.Contains([]string{
			user.Object("spec").String("volumeAttributesClassName"), status.String("currentVolumeAttributesClassName"),
			status.Object("modifyVolumeStatus").String("targetVolumeAttributesClassName"),
		}, class.Key.Name)
	})
}

// anyUser reports whether uses is true of any object that may use others, in a namespace or, for "", anywhere.
// Users are listed from the store and not from a cache: one that lags behind could let go what was just taken into use.
func (p *Protection) anyUser(ctx context.Context, namespace string, uses func(meta.Key, tree.Tree) bool) (bool, error) {
	for _, k := range p.userKinds {
		users, err := p.store.List(ctx, request.List{Kind: k, Namespace: namespace})
		if err != nil {
			return false, err
		}
		for _, o := range users.Items {
			user, err := codec.DecodeStored(k.Message(), o.JSON)
			if err != nil {
				return false, err
			}
			if uses(o.Key, user) {
				return true, nil
			}
		}
	}
	return false, nil
}

// podUsesClaim reports whether a Pod has a claim among its volumes, by name or as an ephemeral volume. An ephemeral one does
// not count once the Pod is shut down: the Pod may wait for what its claim waits for.
func podUsesClaim(pod tree.Tree, claim *meta.Object) bool {
	metadata := pod.Object("metadata")
	ephemeral := !isShutDown(metadata) && slices.ContainsFunc(claim.Meta.OwnerReferences, func(owner meta.OwnerReference) bool {
		return owner.Controller && owner.UID == metadata.String("uid")
	})
	for _, volume := range pod.Object("spec").Objects("volumes") {
		if volume.Object("persistentVolumeClaim").String("claimName") == claim.Key.Name ||
			ephemeral && volume.Has("ephemeral") && metadata.String("name")+"-"+volume.String("name") == claim.Key.Name {
			return true
		}
	}
	return false
}

// isShutDown reports whether the node is done with a Pod, or it was deleted by force.
func isShutDown(metadata tree.Tree) bool {
	grace, ok := metadata.Int("deletionGracePeriodSeconds")
	return metadata.Has("deletionTimestamp") && ok && grace == 0
}
