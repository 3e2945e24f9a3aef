package controllers

import (
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A place is where one life of one object is.
type place struct {
	kind                 *schema.Kind // stored
	namespace, name, uid string
}

func placeOf(k *schema.Kind, o *meta.Object) place {
	return place{kind: k, namespace: o.Key.Namespace, name: o.Key.Name, uid: o.Head.UID}
}

func (p place) key() meta.Key {
	return meta.Key{GroupResource: p.kind.Storage, Namespace: p.namespace, Name: p.name}
}

// A graph knows who depends on whom, as far as watches have told. It holds only objects
// that name owners or wait for their dependents, and of them only what it needs to find
// them: what matters is read from the object itself when it is decided upon.
type graph struct {
	mu       sync.Mutex // guards all
	nodes    map[string]*node
	families map[string]*family
}

// A node is an object that names owners, or that waits for its dependents.
type node struct {
	place
	edges      []edge
	foreground bool // it waits for its dependents
	round      int  // of the watch that told of it
}

// An edge leads from a dependent to an owner.
type edge struct {
	to    *family
	block bool // the owner may not go before the dependent
}

// A family is all dependents of one owner, whether that exists or not.
type family struct {
	uid     string
	members map[*node]bool // true: it blocks
}

func newGraph() *graph {
	return &graph{nodes: make(map[string]*node), families: make(map[string]*family)}
}

// put takes in the state of an object, and says which objects have to be looked at for it.
func (g *graph) put(k *schema.Kind, o *meta.Object, round int) (affected []place) {
	waits := foreground(o)
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[o.Head.UID]
	if n == nil {
		if len(o.Head.Owners) == 0 && !waits {
			return nil
		}
		p := placeOf(k, o)
		p.namespace, p.name, p.uid = strings.Clone(p.namespace), strings.Clone(p.name), strings.Clone(p.uid)
		n = &node{place: p}
		g.nodes[p.uid] = n
	}
	n.kind, n.round = k, round
	if !n.names(o.Head.Owners) {
		affected = append(g.unlink(n), n.place)
		g.link(n, o.Head.Owners)
	}
	if waits && !n.foreground {
		affected = append(append(affected, n.place), g.members(n.uid)...)
	}
	n.foreground = waits
	if len(n.edges) == 0 && !waits {
		delete(g.nodes, n.uid)
	}
	return affected
}

// drop forgets an object that has gone.
func (g *graph) drop(uid string) (affected []place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.forget(uid)
}

func (g *graph) forget(uid string) []place {
	affected := g.members(uid)
	if n := g.nodes[uid]; n != nil {
		delete(g.nodes, uid)
		affected = append(affected, g.unlink(n)...)
	}
	return affected
}

// dropOlder forgets the objects of a kind of which a round has not told. What had gone in
// between may have been an owner of any other, so all are affected.
func (g *graph) dropOlder(k *schema.Kind, round int) (affected []place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid, n := range g.nodes {
		if n.kind.Storage == k.Storage && n.round != round {
			g.forget(uid)
		}
	}
	for _, n := range g.nodes {
		affected = append(affected, n.place)
	}
	return affected
}

// names tells whether the edges are what an object says of its owners.
func (n *node) names(owners []meta.Owner) bool {
	return slices.EqualFunc(n.edges, owners, func(e edge, o meta.Owner) bool {
		return e.to.uid == o.UID && e.block == o.BlockDeletion
	})
}

// link makes the edges of a node that has none.
func (g *graph) link(n *node, owners []meta.Owner) {
	for _, o := range owners {
		f := g.families[o.UID]
		if f == nil {
			f = &family{uid: strings.Clone(o.UID), members: make(map[*node]bool)}
			g.families[f.uid] = f
		}
		f.members[n] = f.members[n] || o.BlockDeletion
		n.edges = append(n.edges, edge{f, o.BlockDeletion})
	}
}

// unlink takes the edges of a node away, and gives the owners that have waited for it.
func (g *graph) unlink(n *node) (freed []place) {
	for _, e := range n.edges {
		delete(e.to.members, n)
		if len(e.to.members) == 0 {
			delete(g.families, e.to.uid)
		}
		if owner := g.nodes[e.to.uid]; owner != nil && owner.foreground && e.block {
			freed = append(freed, owner.place)
		}
	}
	n.edges = nil
	return freed
}

func (g *graph) members(uid string) (all []place) {
	if f := g.families[uid]; f != nil {
		for n := range f.members {
			all = append(all, n.place)
		}
	}
	return all
}

// blocked tells whether an owner has a dependent that must go first.
func (g *graph) blocked(uid string) bool {
	return g.any(uid, func(_ *node, blocks bool) bool { return blocks })
}

// owns tells whether an object has dependents.
func (g *graph) owns(uid string) bool {
	return g.any(uid, func(*node, bool) bool { return true })
}

// awaits tells whether an object has a dependent that waits for its own dependents.
func (g *graph) awaits(uid string) bool {
	return g.any(uid, func(n *node, _ bool) bool { return n.foreground })
}

func (g *graph) any(uid string, holds func(n *node, blocks bool) bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.families[uid]
	if f == nil {
		return false
	}
	for n, blocks := range f.members {
		if holds(n, blocks) {
			return true
		}
	}
	return false
}
