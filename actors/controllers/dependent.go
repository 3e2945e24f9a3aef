package controllers

import (
	"context"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// collect looks at one dependent after the other.
func (g *Garbage) collect(ctx context.Context) {
	for {
		next := g.dependents.take(ctx, 1)
		if next == nil {
			return
		}
		err := g.attend(ctx, next[0])
		g.tell(ctx, next[0], err)
		g.dependents.settle(ctx, next[0], err)
	}
}

// tell logs what went wrong, unless somebody else was quicker.
func (g *Garbage) tell(ctx context.Context, p place, err error) {
	if err == nil || ctx.Err() != nil || overtaken(err) {
		return
	}
	g.logger.Warn("collecting garbage", "key", p.key().String(), "error", err)
}

// attend decides what has to be done about one object, and does it.
func (g *Garbage) attend(ctx context.Context, p place) error {
	o, err := g.get(ctx, p)
	switch {
	case err != nil || o == nil:
		return err
	case foreground(o):
		if !g.graph.blocked(p.uid) {
			g.owners.add(p)
		}
		return nil
	case o.Head.Terminating || len(o.Head.Owners) == 0:
		return nil
	}
	return g.judge(ctx, p, o)
}

// A standing is what has become of an owner.
type standing uint8

const (
	present standing = iota // or beyond what can be known
	absent
	waiting // for its dependents to go
)

// judge deletes a dependent that nobody owns any more, and makes one that somebody still
// owns forget the others.
func (g *Garbage) judge(ctx context.Context, p place, o *meta.Object) error {
	var counts [3]int
	lost := make(map[string]bool)
	for _, owner := range o.Head.Owners {
		s, err := g.standing(ctx, p, owner)
		if err != nil {
			return err
		}
		if counts[s]++; s != present {
			lost[owner.UID] = true
		}
	}
	switch {
	case len(lost) == 0:
		return nil
	case counts[present] > 0:
		return g.disown(ctx, p, o, lost)
	case counts[waiting] > 0 && g.graph.owns(p.uid):
		blocks := slices.ContainsFunc(o.Head.Owners, func(owner meta.Owner) bool { return owner.BlockDeletion })
		if blocks && g.graph.awaits(p.uid) { // maybe for this: nobody may wait in a circle
			return g.unblock(ctx, p, o) // the watch that tells of it brings it back
		}
		return remove(ctx, g.store, p.kind, o, "Foreground")
	}
	return remove(ctx, g.store, p.kind, o, policyOf(o))
}

// policyOf is the policy that the object's own finalizers ask for.
func policyOf(o *meta.Object) string {
	switch {
	case slices.Contains(o.Head.Finalizers, orphanFinalizer):
		return "Orphan"
	case slices.Contains(o.Head.Finalizers, foregroundFinalizer):
		return "Foreground"
	}
	return "Background"
}

// standing looks for an owner. It is where the dependent is: in the same namespace, or in
// none. Of a kind that is not known nothing can be said.
func (g *Garbage) standing(ctx context.Context, p place, owner meta.Owner) (standing, error) {
	group, version, ok := strings.Cut(owner.APIVersion, "/")
	if !ok {
		group, version = "", owner.APIVersion
	}
	gvk := meta.GroupVersionKind{Group: group, Version: version, Kind: owner.Kind}
	k := g.kinds.ByGVK(gvk)
	if was, followed := g.former.Load(gvk); k == nil && followed {
		k = was.(*schema.Kind) // its definition has gone, and with it all of its objects
	}
	if k == nil || k.Resource == "" || k.Virtual() || k.Namespaced && !p.kind.Namespaced {
		return present, nil
	}
	at := place{kind: k.Stored, name: owner.Name, uid: owner.UID}
	if k.Namespaced {
		at.namespace = p.namespace
	}
	o, err := g.get(ctx, at)
	switch {
	case err != nil:
		return present, err
	case o == nil:
		return absent, nil
	case foreground(o):
		return waiting, nil
	}
	return present, nil
}

// disown takes the references to some owners off an object.
func (g *Garbage) disown(ctx context.Context, p place, o *meta.Object, lost map[string]bool) error {
	return edit(ctx, g.store, p.kind, o, func(metadata schema.Tree) (string, []any) {
		return "ownerReferences", slices.DeleteFunc(rules.Items(metadata, "ownerReferences"), func(r any) bool {
			reference, _ := r.(schema.Tree)
			uid, _ := reference["uid"].(string)
			return lost[uid]
		})
	})
}

// unblock lets all owners of an object go before it.
func (g *Garbage) unblock(ctx context.Context, p place, o *meta.Object) error {
	return edit(ctx, g.store, p.kind, o, func(metadata schema.Tree) (string, []any) {
		references := rules.Items(metadata, "ownerReferences")
		for _, r := range references {
			if reference, ok := r.(schema.Tree); ok {
				delete(reference, "blockOwnerDeletion")
			}
		}
		return "ownerReferences", references
	})
}
