package controllers

import (
	"context"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

// Protection removes its finalizer from objects of one kind that are being deleted, as soon as they
// are not in use. To others that lack it, for they were created while nothing added it, it adds it.
type Protection struct {
	*reconcile.Controller[meta.Key]
	objects   reconcile.Client
	users     []reconcile.Client // of objects that may use the protected ones
	finalizer string
	inUse     func(ctx context.Context, o *meta.Object) (bool, error)

	mu      sync.Mutex        // guards pending
	pending map[meta.Key]bool // objects that are to go, and are in use
}

// newProtection makes what the three protections share. The caller sets inUse, and userKinds where objects have users.
func newProtection(env *Env, k reconcile.Client, queue, finalizer string, users ...reconcile.Client) *Protection {
	p := &Protection{objects: k, finalizer: env.Translate(finalizer), users: users, pending: map[meta.Key]bool{}}
	p.Controller = reconcile.New(env, queue, p.sync, "an object stays protected", "key")
	p.Watch(k, p.onObject)
	for _, k := range users {
		p.Watch(k, p.onUser)
	}
	return p
}

// NewVolumeProtection protects PersistentVolumes that are bound to a claim.
func NewVolumeProtection(env *Env) *Protection {
	p := newProtection(env, env.Core("PersistentVolume"), "pvprotection", plugins.PVProtectionFinalizer)
	p.inUse = func(_ context.Context, o *meta.Object) (bool, error) {
		object, err := p.objects.Decode(o)
		return object.Object("status").String("phase") == "Bound", err
	}
	return p
}

// NewVolumeClaimProtection protects PersistentVolumeClaims that Pods use.
func NewVolumeClaimProtection(env *Env) *Protection {
	p := newProtection(env, env.Core("PersistentVolumeClaim"), "pvcprotection", plugins.PVCProtectionFinalizer, env.Core("Pod"))
	p.inUse = p.usedByPod
	return p
}

// NewAttributesClassProtection protects VolumeAttributesClasses that volumes or claims use.
func NewAttributesClassProtection(env *Env) *Protection {
	p := newProtection(env, env.Client("storage.platform.io", "v1", "VolumeAttributesClass"), "vacprotection", plugins.VACProtectionFinalizer,
		env.Core("PersistentVolume"), env.Core("PersistentVolumeClaim"))
	p.inUse = p.usedByVolume
	return p
}

// onObject enqueues only what has something to do. Objects that are protected and not being deleted are most of all.
func (p *Protection) onObject(e reconcile.Event) {
	switch {
	case e.Deleted:
		p.setPending(e.Key, false)
	case p.mayGo(e.Object) || p.isUnprotected(e.Object):
		p.Add(e.Key)
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
			p.Add(key)
		}
	}
}

// sync adds the finalizer to an object that lacks it, and removes it from one that is being deleted and is not in use.
// That one is marked pending before its users are listed: otherwise the delete of the last user, between list and
// mark, would go unnoticed.
func (p *Protection) sync(ctx context.Context, key meta.Key) error {
	o, err := p.objects.Get(ctx, key)
	if err != nil {
		return err
	}
	if o == nil || !p.mayGo(o) {
		p.setPending(key, false)
		if o != nil && p.isUnprotected(o) {
			return p.objects.AddFinalizer(ctx, o, p.finalizer)
		}
		return nil
	}
	// Before inUse, not after: see above. An event in between enqueues the object once more, which does no harm.
	p.setPending(key, true)
	if used, err := p.inUse(ctx, o); used || err != nil {
		return err
	}
	return p.objects.RemoveFinalizer(ctx, o, p.finalizer)
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
	for _, k := range p.users {
		users, err := k.List(ctx, request.List{Namespace: namespace})
		if err != nil {
			return false, err
		}
		for _, o := range users {
			user, err := k.Decode(o)
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
