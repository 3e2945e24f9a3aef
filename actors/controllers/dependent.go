package controllers

import (
	"context"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// runDependentWorker looks at one dependent after the other.
func (g *GarbageCollector) runDependentWorker(ctx context.Context) {
	for {
		next := g.dependentQueue.get(ctx, 1)
		if next == nil {
			return
		}
		err := g.processDependent(ctx, next[0])
		g.logError(ctx, next[0], err)
		g.dependentQueue.done(ctx, next[0], err)
	}
}

// logError logs what went wrong, unless somebody else was quicker.
func (g *GarbageCollector) logError(ctx context.Context, p objectReference, err error) {
	if err == nil || ctx.Err() != nil || isConflict(err) {
		return
	}
	g.logger.Warn("collecting garbage", "key", p.key().String(), "error", err)
}

// processDependent decides what has to be done about one object, and does it.
func (g *GarbageCollector) processDependent(ctx context.Context, p objectReference) error {
	o, err := g.get(ctx, p)
	switch {
	case err != nil || o == nil:
		return err
	case isForegroundDeleting(o):
		if !g.graph.hasBlockingDependent(p.uid) {
			g.ownerQueue.add(p)
		}
		return nil
	case o.Meta.Terminating || len(o.Meta.OwnerReferences) == 0:
		return nil
	}
	return g.reconcileOwners(ctx, p, o)
}

// A standing is what has become of an owner.
type ownerState uint8

const (
	ownerPresent ownerState = iota // or beyond what can be known
	ownerAbsent
	ownerWaiting // for its dependents to go
)

// reconcileOwners deletes a dependent that nobody owns any more, and makes one that somebody still
// owns forget the others.
func (g *GarbageCollector) reconcileOwners(ctx context.Context, p objectReference, o *meta.Object) error {
	var counts [3]int
	lost := make(map[string]bool)
	for _, owner := range o.Meta.OwnerReferences {
		s, err := g.ownerState(ctx, p, owner)
		if err != nil {
			return err
		}
		if counts[s]++; s != ownerPresent {
			lost[owner.UID] = true
		}
	}
	switch {
	case len(lost) == 0:
		return nil
	case counts[ownerPresent] > 0:
		return g.removeOwnerReferences(ctx, p, o, lost)
	case counts[ownerWaiting] > 0 && g.graph.hasDependents(p.uid):
		blocks := slices.ContainsFunc(o.Meta.OwnerReferences, func(owner meta.OwnerReference) bool { return owner.BlockOwnerDeletion })
		if blocks && g.graph.hasForegroundDependent(p.uid) { // maybe for this: nobody may wait in a circle
			return g.unblockOwnerReferences(ctx, p, o) // the watch that tells of it brings it back
		}
		return deleteIfUnchanged(ctx, g.store, p.kind, o, "Foreground")
	}
	return deleteIfUnchanged(ctx, g.store, p.kind, o, propagationPolicyOf(o))
}

// propagationPolicyOf is the policy that the object's own finalizers ask for.
func propagationPolicyOf(o *meta.Object) string {
	switch {
	case slices.Contains(o.Meta.Finalizers, orphanFinalizer):
		return "Orphan"
	case slices.Contains(o.Meta.Finalizers, foregroundFinalizer):
		return "Foreground"
	}
	return "Background"
}

// ownerState looks for an owner. It is where the dependent is: in the same namespace, or in
// none. Of a kind that is not known nothing can be said.
func (g *GarbageCollector) ownerState(ctx context.Context, p objectReference, owner meta.OwnerReference) (ownerState, error) {
	group, version, ok := strings.Cut(owner.APIVersion, "/")
	if !ok {
		group, version = "", owner.APIVersion
	}
	gvk := meta.GroupVersionKind{Group: group, Version: version, Kind: owner.Kind}
	k := g.kinds.ByGVK(gvk)
	if was, followed := g.formerKinds.Load(gvk); k == nil && followed {
		k = was.(*schema.Kind) // its definition has gone, and with it all of its objects
	}
	if k == nil || k.Resource == "" || k.Virtual() || k.Namespaced && !p.kind.Namespaced {
		return ownerPresent, nil
	}
	at := objectReference{kind: k.Stored, name: owner.Name, uid: owner.UID}
	if k.Namespaced {
		at.namespace = p.namespace
	}
	o, err := g.get(ctx, at)
	switch {
	case err != nil:
		return ownerPresent, err
	case o == nil:
		return ownerAbsent, nil
	case isForegroundDeleting(o):
		return ownerWaiting, nil
	}
	return ownerPresent, nil
}

// removeOwnerReferences takes the references to some owners off an object.
func (g *GarbageCollector) removeOwnerReferences(ctx context.Context, p objectReference, o *meta.Object, lost map[string]bool) error {
	return patchMetadataList(ctx, g.store, p.kind, o, func(metadata tree.Tree) (string, []any) {
		return "ownerReferences", slices.DeleteFunc(metadata.List("ownerReferences"), func(r any) bool {
			reference, _ := r.(tree.Tree)
			uid, _ := reference["uid"].(string)
			return lost[uid]
		})
	})
}

// unblockOwnerReferences lets all owners of an object go before it.
func (g *GarbageCollector) unblockOwnerReferences(ctx context.Context, p objectReference, o *meta.Object) error {
	return patchMetadataList(ctx, g.store, p.kind, o, func(metadata tree.Tree) (string, []any) {
		references := metadata.List("ownerReferences")
		for _, r := range references {
			if reference, ok := r.(tree.Tree); ok {
				delete(reference, "blockOwnerDeletion")
			}
		}
		return "ownerReferences", references
	})
}
