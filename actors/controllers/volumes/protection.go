package volumes

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

// Protection adds a finalizer to the objects of one kind. It removes the finalizer from terminating
// objects once they are unused.
type Protection struct {
	*reconcile.Controller[meta.Key]
	objects   reconcile.Client
	users     []reconcile.Client // kinds whose objects may use the protected ones
	finalizer string
	inUse     func(ctx context.Context, o *meta.Object) (bool, error)

	mu      sync.Mutex        // guards pending
	pending map[meta.Key]bool // terminating objects that are in use
}

// newProtection returns a Protection. The caller must set its inUse field.
func newProtection(env *reconcile.Env, k reconcile.Client, queue, finalizer string, users ...reconcile.Client) *Protection {
	p := &Protection{objects: k, finalizer: env.Translate(finalizer), users: users, pending: map[meta.Key]bool{}}
	p.Controller = reconcile.New(env, queue, p.sync, "cannot remove the protection of an object", "key")
	p.Watch(k, p.onObject)
	for _, k := range users {
		p.Watch(k, p.onUser)
	}
	return p
}

// NewVolumeProtection returns a Protection for PersistentVolumes that are bound to a claim.
func NewVolumeProtection(env *reconcile.Env) *Protection {
	p := newProtection(env, env.Core("PersistentVolume"), "pvprotection", plugins.PVProtectionFinalizer)
	p.inUse = func(_ context.Context, o *meta.Object) (bool, error) {
		object, err := p.objects.Decode(o)
		return object.Object("status").String("phase") == "Bound", err
	}
	return p
}

// NewClaimProtection returns a Protection for PersistentVolumeClaims that Pods use. If marksUnused
// is set, it also maintains their Unused condition.
func NewClaimProtection(env *reconcile.Env, marksUnused bool) *Protection {
	p := newProtection(env, env.Core("PersistentVolumeClaim"), "pvcprotection", plugins.PVCProtectionFinalizer, env.Core("Pod"))
	p.inUse = p.usedByPod
	if marksUnused {
		p.Go(newUnused(env).Run)
	}
	return p
}

// NewAttributesClassProtection returns a Protection for VolumeAttributesClasses that volumes or
// claims use.
func NewAttributesClassProtection(env *reconcile.Env) *Protection {
	p := newProtection(env, env.Client("storage.platform.io", "v1", "VolumeAttributesClass"), "vacprotection", plugins.VACProtectionFinalizer,
		env.Core("PersistentVolume"), env.Core("PersistentVolumeClaim"))
	p.inUse = p.usedByVolume
	return p
}

func (p *Protection) onObject(e reconcile.Event) {
	switch {
	case e.Deleted:
		p.setPending(e.Key, false)
	case p.mayGo(e.Object) || p.isUnprotected(e.Object):
		p.Add(e.Key)
	}
}

// onUser enqueues the pending objects that a changed object may have used, in its namespace or
// cluster-scoped. It visits all pending objects, because there are few.
func (p *Protection) onUser(e reconcile.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.pending {
		if key.Namespace == "" || key.Namespace == e.Key.Namespace {
			p.Add(key)
		}
	}
}

// sync adds a missing finalizer, or removes it from an unused terminating object. It marks the
// object as pending before it lists the users, because it could otherwise miss the deletion of a
// user after the list.
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
	p.setPending(key, true)
	if used, err := p.inUse(ctx, o); used || err != nil {
		return err
	}
	return p.objects.RemoveFinalizer(ctx, o, p.finalizer)
}

func (p *Protection) mayGo(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, p.finalizer)
}

func (p *Protection) isUnprotected(o *meta.Object) bool {
	return !o.Meta.Terminating && !slices.Contains(o.Meta.Finalizers, p.finalizer)
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

// usedByPod reports whether a scheduled Pod uses the claim. No Pod is scheduled while its claim is
// terminating.
func (p *Protection) usedByPod(ctx context.Context, claim *meta.Object) (bool, error) {
	return p.anyUser(ctx, claim.Key.Namespace, func(_ meta.Key, pod tree.Tree) bool {
		return pod.Object("spec").String("nodeName") != "" && podUsesClaim(pod, claim)
	})
}

func (p *Protection) usedByVolume(ctx context.Context, class *meta.Object) (bool, error) {
	return p.anyUser(ctx, "", func(_ meta.Key, user tree.Tree) bool {
		status := user.Object("status")
		return slices.Contains([]string{
			user.Object("spec").String("volumeAttributesClassName"), status.String("currentVolumeAttributesClassName"),
			status.Object("modifyVolumeStatus").String("targetVolumeAttributesClassName"),
		}, class.Key.Name)
	})
}

// anyUser reports whether uses returns true for any object in a namespace, or in all namespaces if
// namespace is "". It lists from the store, because a stale cache could miss a new user.
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

// podUsesClaim reports whether a Pod uses a claim by name or as an ephemeral volume. A Pod that has
// shut down does not use its ephemeral claim, because the Pod's deletion may wait for the claim's.
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

func isShutDown(metadata tree.Tree) bool {
	grace, ok := metadata.Int("deletionGracePeriodSeconds")
	return metadata.Has("deletionTimestamp") && ok && grace == 0
}
