package garbagecollector

import (
	"context"
	"math"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// runOwnerWorker processes all queued owners in one batch, because finding their dependents
// requires listing every kind. The graph is not enough, because it lacks dependents that no watch
// has delivered yet. Such a dependent would later be deleted as garbage instead of being orphaned.
func (g *Controller) runOwnerWorker(ctx context.Context) {
	for {
		next := g.ownerQueue.Get(ctx, math.MaxInt)
		if next == nil {
			return
		}
		byNamespace := make(map[string][]objectReference)
		for _, p := range next {
			byNamespace[p.namespace] = append(byNamespace[p.namespace], p)
		}
		for namespace, owners := range byNamespace {
			g.processOwners(ctx, namespace, owners)
		}
	}
}

// processOwners processes owners in one namespace, or cluster-scoped owners if namespace is "".
func (g *Controller) processOwners(ctx context.Context, namespace string, owners []objectReference) {
	found, fault := g.findDependents(ctx, namespace, owners)
	_ = reconcile.ForEachParallel(owners, func(p objectReference) error {
		err := fault
		if err == nil {
			err = g.processOwner(ctx, p, found[p.uid.String()])
		}
		if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
			g.logFailure(p, err)
		}
		g.ownerQueue.Done(ctx, p, err)
		return nil
	})
}

type dependent struct {
	objectReference
	object *meta.Object
	blocks bool
}

// findDependents lists the dependents of owners from the store, keyed by the owner's uid.
func (g *Controller) findDependents(ctx context.Context, namespace string, owners []objectReference) (map[string][]dependent, error) {
	found := make(map[string][]dependent, len(owners))
	for _, p := range owners {
		found[p.uid.String()] = nil
	}
	for _, k := range g.Kinds.StorageKinds() {
		if namespace != "" && !k.Namespaced {
			continue
		}
		all, err := g.ClientOf(k).List(ctx, request.List{Namespace: namespace})
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			for _, owner := range o.Meta.OwnerReferences {
				if known, asked := found[owner.UID]; asked {
					found[owner.UID] = append(known, dependent{objectReferenceOf(k, o), o, owner.BlockOwnerDeletion})
				}
			}
		}
	}
	return found, nil
}

// processOwner applies the propagation policy of an owner and removes its finalizer.
func (g *Controller) processOwner(ctx context.Context, p objectReference, dependents []dependent) error {
	o, err := g.get(ctx, p)
	switch {
	case err != nil || o == nil:
		return err
	case isOrphaning(o):
		lost := map[string]bool{p.uid.String(): true}
		if err := reconcile.ForEachParallel(dependents, func(d dependent) error { return g.removeOwnerReferences(ctx, d.objectReference, d.object, lost) }); err != nil {
			return err
		}
		return g.ClientOf(p.kind).RemoveFinalizer(ctx, o, meta.OrphanFinalizer)
	case isForegroundDeleting(o):
		if slices.ContainsFunc(dependents, func(d dependent) bool { return d.blocks }) {
			return nil // the delete event of that dependent enqueues the owner again
		}
		return g.ClientOf(p.kind).RemoveFinalizer(ctx, o, meta.ForegroundFinalizer)
	}
	return nil
}
