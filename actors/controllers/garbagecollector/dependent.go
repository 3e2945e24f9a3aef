package garbagecollector

import (
	"context"
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func (g *Controller) logFailure(p objectReference, err error) {
	g.Log.Warn("garbage collection failed", "key", p.key().String(), "error", err)
}

func (g *Controller) processDependent(ctx context.Context, p objectReference) error {
	o, err := g.get(ctx, p)
	switch {
	case err != nil || o == nil:
		return err
	case isForegroundDeleting(o):
		if !g.graph.hasBlockingDependent(p.uid.String()) {
			g.ownerQueue.Add(p)
		}
		return nil
	case o.Meta.Terminating || len(o.Meta.OwnerReferences) == 0:
		return nil
	}
	return g.reconcileOwners(ctx, p, o)
}

type ownerState uint8

// States of an owner. An owner whose state cannot be determined is assumed to exist, because a
// dependent may be deleted only if its owner is known not to exist.
const (
	ownerPresent ownerState = iota // or undetermined
	ownerAbsent
	ownerWaiting // is deleted in the foreground and waits for its dependents
)

// reconcileOwners deletes an object if all its owners are absent or in foreground deletion. If some
// owners are present, it removes the references to all other owners.
func (g *Controller) reconcileOwners(ctx context.Context, p objectReference, o *meta.Object) error {
	var counts [3]int
	lost := make(map[string]bool)
	for _, owner := range o.Meta.OwnerReferences {
		s, err := g.ownerState(ctx, p, o, owner)
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
	case counts[ownerWaiting] > 0 && g.graph.hasDependents(p.uid.String()):
		blocks := slices.ContainsFunc(o.Meta.OwnerReferences, func(owner meta.OwnerReference) bool { return owner.BlockOwnerDeletion })
		if blocks && g.graph.hasForegroundDependent(p.uid.String()) { // a cycle would block forever
			return g.unblockOwnerReferences(ctx, p, o) // its watch event enqueues the object
		}
		return g.ClientOf(p.kind).DeleteWith(ctx, o, "Foreground")
	}
	return g.ClientOf(p.kind).DeleteWith(ctx, o, propagationPolicyOf(o))
}

func propagationPolicyOf(o *meta.Object) string {
	switch {
	case slices.Contains(o.Meta.Finalizers, meta.OrphanFinalizer):
		return "Orphan"
	case slices.Contains(o.Meta.Finalizers, meta.ForegroundFinalizer):
		return "Foreground"
	}
	return "Background"
}

// ownerState looks up an owner, in the dependent's namespace if the owner's kind is namespaced. An
// owner of an unknown kind is assumed to exist, because the kind may be disabled or not registered
// yet and a delete cannot be undone.
func (g *Controller) ownerState(ctx context.Context, p objectReference, dependent *meta.Object, owner meta.OwnerReference) (ownerState, error) {
	gvk := meta.ParseGVK(owner.APIVersion, owner.Kind)
	k := g.Kinds.ByGVK(gvk)
	if k == nil && g.customKinds.contain(gvk, p.kind.Namespaced) {
		return ownerAbsent, nil // the CRD was deleted with all its objects
	}
	if k == nil {
		g.graph.await(p.uid.String(), meta.GroupKind{Group: gvk.Group, Kind: owner.Kind})
		return ownerPresent, nil
	}
	if k.Resource == "" || k.Virtual() {
		return ownerPresent, nil
	}
	if k.Namespaced && !p.kind.Namespaced {
		return ownerPresent, g.reportForeignOwner(ctx, p, dependent, k, owner)
	}
	g.graph.await(p.uid.String(), k.Stored.GroupKind())
	at := objectReference{kind: k.Stored, name: owner.Name, uid: meta.NewText(owner.UID)}
	if k.Namespaced {
		at.namespace = p.namespace
	}
	o, err := g.get(ctx, at)
	switch {
	case err != nil:
		return ownerPresent, err
	case o == nil && k.Namespaced:
		return ownerAbsent, g.reportForeignOwner(ctx, p, dependent, k, owner)
	case o == nil:
		return ownerAbsent, nil
	case isForegroundDeleting(o):
		return ownerWaiting, nil
	}
	return ownerPresent, nil
}

// reportForeignOwner writes an Event that explains the deletion of the dependent if the absent
// owner exists in another namespace. It searches the owner's kind only in the rare case that the
// graph has not seen the owner's deletion.
func (g *Controller) reportForeignOwner(ctx context.Context, p objectReference, dependent *meta.Object, k *schema.Kind, owner meta.OwnerReference) error {
	if g.graph.ownerDeleted(owner.UID) {
		return nil
	}
	named, err := g.ClientOf(k.Stored).ListBy(ctx, "metadata.name", owner.Name)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(named, func(o *meta.Object) bool { return o.Meta.UID == owner.UID && o.Key.Namespace != p.namespace }) {
		g.ClientOf(p.kind).Reporting("garbage-collector-controller").Warn(dependent, "OwnerRefInvalidNamespace", fmt.Sprintf(
			"ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %[3]q",
			owner.APIVersion, owner.Kind, p.namespace, owner.Name, owner.UID))
	}
	return nil
}

func (g *Controller) removeOwnerReferences(ctx context.Context, p objectReference, o *meta.Object, lost map[string]bool) error {
	return g.ClientOf(p.kind).PatchMetadataList(ctx, o, "ownerReferences", func(references []any) []any {
		return slices.DeleteFunc(references, func(r any) bool {
			reference, _ := r.(tree.Tree)
			return lost[reference.String("uid")]
		})
	})
}

func (g *Controller) unblockOwnerReferences(ctx context.Context, p objectReference, o *meta.Object) error {
	return g.ClientOf(p.kind).PatchMetadataList(ctx, o, "ownerReferences", func(references []any) []any {
		for _, r := range references {
			if reference, ok := r.(tree.Tree); ok {
				delete(reference, "blockOwnerDeletion")
			}
		}
		return references
	})
}
