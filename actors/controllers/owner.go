package controllers

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// release lets owners go, all that wait at a time. Before that it looks for dependents in
// the store itself: watches may be behind, and a dependent that was not known yet would not be
// left alone, but deleted as garbage.
func (g *Garbage) release(ctx context.Context) {
	for {
		next := g.owners.take(ctx, math.MaxInt)
		if next == nil {
			return
		}
		byNamespace := make(map[string][]place)
		for _, p := range next {
			byNamespace[p.namespace] = append(byNamespace[p.namespace], p)
		}
		for namespace, owners := range byNamespace {
			g.releaseFrom(ctx, namespace, owners)
		}
	}
}

// releaseFrom lets owners of one namespace go, or of none.
func (g *Garbage) releaseFrom(ctx context.Context, namespace string, owners []place) {
	found, fault := g.find(ctx, namespace, owners)
	_ = each(owners, func(p place) error {
		err := fault
		if err == nil {
			err = g.letGo(ctx, p, found[p.uid])
		}
		g.tell(ctx, p, err)
		g.owners.settle(ctx, p, err)
		return nil
	})
}

// A dependent is an object that names the owner in question.
type dependent struct {
	place
	object *meta.Object
	blocks bool
}

// find lists the dependents of owners, by the owner's uid.
func (g *Garbage) find(ctx context.Context, namespace string, owners []place) (map[string][]dependent, error) {
	found := make(map[string][]dependent, len(owners))
	for _, p := range owners {
		found[p.uid] = nil
	}
	for _, k := range g.kinds.Stored() {
		if namespace != "" && !k.Namespaced {
			continue
		}
		all, err := g.store.List(ctx, request.List{Kind: k, Namespace: namespace})
		if err != nil {
			return nil, err
		}
		for _, o := range all.Items {
			for _, owner := range o.Head.Owners {
				if known, asked := found[owner.UID]; asked {
					found[owner.UID] = append(known, dependent{placeOf(k, o), o, owner.BlockDeletion})
				}
			}
		}
	}
	return found, nil
}

// letGo does for an owner what its finalizers ask for, and takes them off.
func (g *Garbage) letGo(ctx context.Context, p place, dependents []dependent) error {
	o, err := g.get(ctx, p)
	switch {
	case err != nil || o == nil:
		return err
	case orphaning(o):
		lost := map[string]bool{p.uid: true}
		if err := each(dependents, func(d dependent) error { return g.disown(ctx, d.place, d.object, lost) }); err != nil {
			return err
		}
		return unhold(ctx, g.store, p.kind, o, orphanFinalizer)
	case foreground(o):
		if slices.ContainsFunc(dependents, func(d dependent) bool { return d.blocks }) {
			return nil // the watch that tells of its end brings the owner back
		}
		return unhold(ctx, g.store, p.kind, o, foregroundFinalizer)
	}
	return nil
}

// each does something with many things, some at a time, and gives all that went wrong.
func each[T any](things []T, do func(T) error) error {
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex // guards faults
		faults []error
		slots  = make(chan struct{}, collectors)
	)
	for _, t := range things {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := do(t); err != nil {
				mu.Lock()
				faults = append(faults, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return errors.Join(faults...)
}
