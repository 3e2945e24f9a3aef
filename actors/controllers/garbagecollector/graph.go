package garbagecollector

import (
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// objectReference identifies an object by kind, name and uid. The uid distinguishes it from an
// object recreated under the same name.
type objectReference struct {
	kind            *schema.Kind // storage version
	namespace, name string
	uid             meta.Text
}

func objectReferenceOf(k *schema.Kind, o *meta.Object) objectReference {
	return objectReference{kind: k, namespace: o.Key.Namespace, name: o.Key.Name, uid: meta.NewText(o.Meta.UID)}
}

func (p objectReference) key() meta.Key {
	return meta.Key{GroupResource: p.kind.Storage, Namespace: p.namespace, Name: p.name}
}

// graph holds the owner references that watches have delivered. To save memory, it has nodes only
// for objects that have owners or are being deleted in the foreground. Decisions are based on the
// objects in the store.
type graph struct {
	mu       sync.Mutex // guards the fields below
	nodes    map[string]*node
	byOwner  map[string]*ownerDependents
	watched  map[meta.GroupKind]bool                      // kinds whose objects have all been delivered
	awaiting reconcile.Index[meta.GroupKind, *node, bool] // dependents by the owner's unwatched kind
	awaited  map[*node][]meta.GroupKind                   // the inverse
}

// node is an object that has owner references or waits for its dependents.
type node struct {
	objectReference
	edges      []edge
	foreground bool // in foreground deletion
	epoch      int  // number of the last watch that delivered the object
}

type edge struct {
	to     *ownerDependents
	blocks bool // blockOwnerDeletion
}

// ownerDependents holds the dependents of an owner, whether or not the owner exists.
type ownerDependents struct {
	uid        meta.Text
	deleted    bool           // its deletion was observed
	dependents map[*node]bool // value: blockOwnerDeletion
}

func newGraph() *graph {
	return &graph{
		nodes: map[string]*node{}, byOwner: map[string]*ownerDependents{},
		watched: map[meta.GroupKind]bool{}, awaiting: reconcile.Index[meta.GroupKind, *node, bool]{}, awaited: map[*node][]meta.GroupKind{},
	}
}

// await records a dependent whose owner's kind is not watched yet, because the graph would miss the
// owner's deletion. The caller must call await before it reads the owner from the store. If the
// owner is deleted later, either the watch delivers the deletion or observeKind returns the
// dependent.
func (g *graph) await(uid string, owner meta.GroupKind) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	if n == nil || g.watched[owner] || g.awaiting[owner][n] {
		return
	}
	if g.awaiting[owner] == nil {
		owner.Group, owner.Kind = strings.Clone(owner.Group), strings.Clone(owner.Kind)
		g.awaiting[owner] = map[*node]bool{}
	}
	g.awaiting[owner][n] = true
	g.awaited[n] = append(g.awaited[n], owner)
}

func (g *graph) observeKind(k meta.GroupKind) (affected []objectReference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watched[k] = true
	for n := range g.awaiting[k] {
		affected = append(affected, n.objectReference)
		g.stopAwaiting(n)
	}
	return affected
}

func (g *graph) stopAwaiting(n *node) {
	for _, k := range g.awaited[n] {
		g.awaiting.Delete(k, n)
	}
	delete(g.awaited, n)
}

// put records a new or changed object. It returns the affected objects, which the caller examines
// without holding the lock. Most events change no owner references and need only a map lookup and a
// short comparison.
func (g *graph) put(k *schema.Kind, o *meta.Object, epoch int) (affected []objectReference) {
	waits := isForegroundDeleting(o)
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[o.Meta.UID]
	if n == nil {
		if len(o.Meta.OwnerReferences) == 0 && !waits {
			return nil
		}
		n = &node{objectReference: objectReferenceOf(k, o)}
		g.nodes[n.uid.String()] = n
	}
	n.kind, n.epoch = k, epoch
	// Owners that this object blocked may now be deletable, and the object itself may be garbage.
	if !n.hasOwners(o.Meta.OwnerReferences) {
		affected = append(g.unlink(n), n.objectReference)
		g.link(n, o.Meta.OwnerReferences)
	}
	if waits && !n.foreground {
		affected = append(append(affected, n.objectReference), g.dependentsOf(n.uid.String())...)
	}
	n.foreground = waits
	if len(n.edges) == 0 && !waits {
		delete(g.nodes, n.uid.String())
	}
	return affected
}

// remove records a deletion and returns the object's dependents, even if the object had no node.
func (g *graph) remove(uid string) (affected []objectReference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.removeLocked(uid)
}

func (g *graph) removeLocked(uid string) []objectReference {
	affected := g.dependentsOf(uid)
	if f := g.byOwner[uid]; f != nil {
		f.deleted = true
	}
	if n := g.nodes[uid]; n != nil {
		delete(g.nodes, uid)
		affected = append(affected, g.unlink(n)...)
	}
	return affected
}

// removeStale removes the objects of a kind that a restarted watch has not delivered. It returns
// all remaining nodes for examination, because deleted owners may have had no node, and their
// dependents may be of any kind.
func (g *graph) removeStale(k *schema.Kind, epoch int) (affected []objectReference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid, n := range g.nodes {
		if n.kind.Storage == k.Storage && n.epoch != epoch {
			g.removeLocked(uid)
		}
	}
	for _, n := range g.nodes {
		affected = append(affected, n.objectReference)
	}
	return affected
}

// removeKind removes the objects of a kind that is no longer served. Like removeStale, it returns
// all remaining nodes, unless the graph had no nodes of the kind.
func (g *graph) removeKind(k *schema.Kind) (affected []objectReference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.watched, k.GroupKind())
	before := len(g.nodes)
	for uid, n := range g.nodes {
		if n.kind.Storage == k.Storage {
			g.removeLocked(uid)
		}
	}
	if len(g.nodes) == before {
		return nil
	}
	for _, n := range g.nodes {
		affected = append(affected, n.objectReference)
	}
	return affected
}

func (n *node) hasOwners(owners []meta.OwnerReference) bool {
	return slices.EqualFunc(n.edges, owners, func(e edge, o meta.OwnerReference) bool {
		return e.to.uid.String() == o.UID && e.blocks == o.BlockOwnerDeletion
	})
}

func (g *graph) link(n *node, owners []meta.OwnerReference) {
	for _, o := range owners {
		f := g.byOwner[o.UID]
		if f == nil {
			f = &ownerDependents{uid: meta.NewText(o.UID), dependents: make(map[*node]bool)}
			g.byOwner[f.uid.String()] = f
		}
		// An object may refer to an owner twice. One blocking reference is enough.
		f.dependents[n] = f.dependents[n] || o.BlockOwnerDeletion
		n.edges = append(n.edges, edge{f, o.BlockOwnerDeletion})
	}
}

// unlink removes the edges of a node. It returns the owners in foreground deletion that the node
// blocked.
func (g *graph) unlink(n *node) (freed []objectReference) {
	g.stopAwaiting(n)
	for _, e := range n.edges {
		delete(e.to.dependents, n)
		if len(e.to.dependents) == 0 {
			delete(g.byOwner, e.to.uid.String())
		}
		if owner := g.nodes[e.to.uid.String()]; owner != nil && owner.foreground && e.blocks {
			freed = append(freed, owner.objectReference)
		}
	}
	n.edges = nil
	return freed
}

// dependentsOf must be called with mu held.
func (g *graph) dependentsOf(uid string) (all []objectReference) {
	if f := g.byOwner[uid]; f != nil {
		for n := range f.dependents {
			all = append(all, n.objectReference)
		}
	}
	return all
}

func (g *graph) ownerDeleted(uid string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.byOwner[uid]
	return f != nil && f.deleted
}

func (g *graph) hasBlockingDependent(uid string) bool {
	return g.anyDependent(uid, func(_ *node, blocks bool) bool { return blocks })
}

func (g *graph) hasDependents(uid string) bool {
	return g.anyDependent(uid, func(*node, bool) bool { return true })
}

func (g *graph) hasForegroundDependent(uid string) bool {
	return g.anyDependent(uid, func(n *node, _ bool) bool { return n.foreground })
}

// anyDependent reports whether holds returns true for any dependent of the owner with the given
// uid. It calls holds with the lock held, so holds must not call methods of the graph.
func (g *graph) anyDependent(uid string, holds func(n *node, blocks bool) bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.byOwner[uid]
	if f == nil {
		return false
	}
	for n, blocks := range f.dependents {
		if holds(n, blocks) {
			return true
		}
	}
	return false
}
