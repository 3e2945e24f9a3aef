package controllers

import (
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A place is where one life of one object is.
type objectReference struct {
	kind                 *schema.Kind // stored
	namespace, name, uid string
}

func objectReferenceOf(k *schema.Kind, o *meta.Object) objectReference {
	return objectReference{kind: k, namespace: o.Key.Namespace, name: o.Key.Name, uid: o.Meta.UID}
}

func (p objectReference) key() meta.Key {
	return meta.Key{GroupResource: p.kind.Storage, Namespace: p.namespace, Name: p.name}
}

// A graph knows who depends on whom, as far as watches have told. It holds only objects
// that name owners or wait for their dependents, and of them only what it needs to find
// them: what matters is read from the object itself when it is decided upon.
type graph struct {
	mu      sync.Mutex // guards all
	nodes   map[string]*node
	byOwner map[string]*ownerDependents
}

// A node is an object that names owners, or that waits for its dependents.
type node struct {
	objectReference
	edges      []edge
	foreground bool // it waits for its dependents
	epoch      int  // of the watch that told of it
}

// An edge leads from a dependent to an owner.
type edge struct {
	to     *ownerDependents
	blocks bool // the owner may not go before the dependent
}

// A family is all dependents of one owner, whether that exists or not.
type ownerDependents struct {
	uid        string
	dependents map[*node]bool // true: it blocks
}

func newGraph() *graph {
	return &graph{nodes: make(map[string]*node), byOwner: make(map[string]*ownerDependents)}
}

// put takes in the state of an object, and says which objects have to be looked at for it.
func (g *graph) put(k *schema.Kind, o *meta.Object, epoch int) (affected []objectReference) {
	waits := isForegroundDeleting(o)
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[o.Meta.UID]
	if n == nil {
		if len(o.Meta.OwnerReferences) == 0 && !waits {
			return nil
		}
		p := objectReferenceOf(k, o)
		p.namespace, p.name, p.uid = strings.Clone(p.namespace), strings.Clone(p.name), strings.Clone(p.uid)
		n = &node{objectReference: p}
		g.nodes[p.uid] = n
	}
	n.kind, n.epoch = k, epoch
	if !n.hasOwners(o.Meta.OwnerReferences) {
		affected = append(g.unlink(n), n.objectReference)
		g.link(n, o.Meta.OwnerReferences)
	}
	if waits && !n.foreground {
		affected = append(append(affected, n.objectReference), g.dependentsOf(n.uid)...)
	}
	n.foreground = waits
	if len(n.edges) == 0 && !waits {
		delete(g.nodes, n.uid)
	}
	return affected
}

// remove forgets an object that has gone.
func (g *graph) remove(uid string) (affected []objectReference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.removeLocked(uid)
}

func (g *graph) removeLocked(uid string) []objectReference {
	affected := g.dependentsOf(uid)
	if n := g.nodes[uid]; n != nil {
		delete(g.nodes, uid)
		affected = append(affected, g.unlink(n)...)
	}
	return affected
}

// removeStale forgets the objects of a kind of which a round has not told. What had gone in
// between may have been an owner of any other, so all are affected.
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

// hasOwners tells whether the edges are what an object says of its owners.
func (n *node) hasOwners(owners []meta.OwnerReference) bool {
	return slices.EqualFunc(n.edges, owners, func(e edge, o meta.OwnerReference) bool {
		return e.to.uid == o.UID && e.blocks == o.BlockOwnerDeletion
	})
}

// link makes the edges of a node that has none.
func (g *graph) link(n *node, owners []meta.OwnerReference) {
	for _, o := range owners {
		f := g.byOwner[o.UID]
		if f == nil {
			f = &ownerDependents{uid: strings.Clone(o.UID), dependents: make(map[*node]bool)}
			g.byOwner[f.uid] = f
		}
		f.dependents[n] = f.dependents[n] || o.BlockOwnerDeletion
		n.edges = append(n.edges, edge{f, o.BlockOwnerDeletion})
	}
}

// unlink takes the edges of a node away, and gives the owners that have waited for it.
func (g *graph) unlink(n *node) (freed []objectReference) {
	for _, e := range n.edges {
		delete(e.to.dependents, n)
		if len(e.to.dependents) == 0 {
			delete(g.byOwner, e.to.uid)
		}
		if owner := g.nodes[e.to.uid]; owner != nil && owner.foreground && e.blocks {
			freed = append(freed, owner.objectReference)
		}
	}
	n.edges = nil
	return freed
}

func (g *graph) dependentsOf(uid string) (all []objectReference) {
	if f := g.byOwner[uid]; f != nil {
		for n := range f.dependents {
			all = append(all, n.objectReference)
		}
	}
	return all
}

// hasBlockingDependent tells whether an owner has a dependent that must go first.
func (g *graph) hasBlockingDependent(uid string) bool {
	return g.anyDependent(uid, func(_ *node, blocks bool) bool { return blocks })
}

// hasDependents tells whether an object has dependents.
func (g *graph) hasDependents(uid string) bool {
	return g.anyDependent(uid, func(*node, bool) bool { return true })
}

// hasForegroundDependent tells whether an object has a dependent that waits for its own dependents.
func (g *graph) hasForegroundDependent(uid string) bool {
	return g.anyDependent(uid, func(n *node, _ bool) bool { return n.foreground })
}

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
