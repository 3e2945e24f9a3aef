package controllers

import (
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// objectReference identifies an object by kind, name and uid, so that an object created again under
// the same name is another one.
type objectReference struct {
	kind            *schema.Kind // storage version
	namespace, name string
	uid             meta.Text
}

func objectReferenceOf(k *schema.Kind, o *meta.Object) objectReference {
	return objectReference{kind: k, namespace: o.Key.Namespace, name: o.Key.Name, uid: meta.NewText(o.Meta.UID)}
}

// key is where the object is stored. Another object may have the same key later, hence the uid beside it.
func (p objectReference) key() meta.Key {
	return meta.Key{GroupResource: p.kind.Storage, Namespace: p.namespace, Name: p.name}
}

// groupKindOf leaves the version out, as owner references of any version mean the same object.
func groupKindOf(k *schema.Kind) meta.GroupKind { return meta.GroupKind{Group: k.Group, Kind: k.Kind} }

// graph holds the owner references between objects, as far as watches have delivered them. To save
// memory it has nodes only for objects that have owners or are being deleted in the foreground, and
// only what is needed to find them: decisions are made on the objects in the store.
//
// Its memory is that of the objects with owners: a node, an edge and an entry of two maps each. A cluster of a
// hundred thousand Pods has as many nodes and far fewer owners.
type graph struct {
	mu       sync.Mutex // guards the fields below
	nodes    map[string]*node
	byOwner  map[string]*ownerDependents
	watched  map[meta.GroupKind]bool                      // kinds of which all objects have been delivered
	awaiting reconcile.Index[meta.GroupKind, *node, bool] // nodes with an owner of another kind, by that
	awaited  map[*node][]meta.GroupKind                   // the reverse
}

// node is an object that has owner references, or waits for its dependents.
type node struct {
	objectReference
	edges      []edge
	foreground bool // it is being deleted in the foreground
	epoch      int  // number of the watch that delivered it last
}

// edge is an owner reference, from a dependent to its owner.
type edge struct {
	to     *ownerDependents
	blocks bool // blockOwnerDeletion
}

// ownerDependents are the dependents of an owner, which itself need not exist.
type ownerDependents struct {
	uid        meta.Text
	deleted    bool           // its end was seen
	dependents map[*node]bool // value: blockOwnerDeletion
}

// newGraph makes an empty graph, in which no kind is watched yet.
func newGraph() *graph {
	return &graph{
		nodes: map[string]*node{}, byOwner: map[string]*ownerDependents{},
		watched: map[meta.GroupKind]bool{}, awaiting: reconcile.Index[meta.GroupKind, *node, bool]{}, awaited: map[*node][]meta.GroupKind{},
	}
}

// await records that a dependent has an owner of a kind, unless that is watched: nothing tells of the end of such an owner.
// It is called before the owner is looked up, so that an owner that is deleted after that is either missed by the watch,
// which begins then, or delivered as deleted.
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

// observeKind records that all objects of a kind have been delivered, and returns the dependents that have waited for it.
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

// stopAwaiting forgets which kinds a node waits for.
func (g *graph) stopAwaiting(n *node) {
	for _, k := range g.awaited[n] {
		g.awaiting.Delete(k, n)
	}
	delete(g.awaited, n)
}

// put records the state of an object, and returns the objects that have to be processed because of it.
//
// Most events change no owner and return nothing: their cost is a look into a map and a comparison of a short list.
// The caller processes what is returned without the lock, on the objects in the store.
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
	// Owners that this object blocked before may be free now, and the object itself may have become garbage.
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

// remove removes a deleted object, and returns the objects that have to be processed because of it.
//
// The dependents of a deleted object are to be processed even if it had no node itself.
func (g *graph) remove(uid string) (affected []objectReference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.removeLocked(uid)
}

// removeLocked is remove for callers that hold the lock.
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

// removeStale removes the objects of a kind that a restarted watch has not delivered. Deleted owners
// without a node leave no trace, and their dependents may be of any kind; so all nodes are returned.
// The nodes that are returned include those of other kinds, as an owner may have dependents of any.
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

// removeKind removes the objects of a kind that is not served any more. What it returns is as for removeStale; nothing, if
// there were none.
func (g *graph) removeKind(k *schema.Kind) (affected []objectReference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.watched, groupKindOf(k))
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

// hasOwners reports whether the edges of a node match the given owner references.
func (n *node) hasOwners(owners []meta.OwnerReference) bool {
	return slices.EqualFunc(n.edges, owners, func(e edge, o meta.OwnerReference) bool {
		return e.to.uid.String() == o.UID && e.blocks == o.BlockOwnerDeletion
	})
}

// link adds the edges of a node that has none.
func (g *graph) link(n *node, owners []meta.OwnerReference) {
	for _, o := range owners {
		f := g.byOwner[o.UID]
		if f == nil {
			f = &ownerDependents{uid: meta.NewText(o.UID), dependents: make(map[*node]bool)}
			g.byOwner[f.uid.String()] = f
		}
		// An owner may be named twice; one reference that blocks is enough.
		f.dependents[n] = f.dependents[n] || o.BlockOwnerDeletion
		n.edges = append(n.edges, edge{f, o.BlockOwnerDeletion})
	}
}

// unlink removes the edges of a node, and returns the owners in foreground deletion that it blocked.
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

// dependentsOf is called with the lock held. The order of what it returns is random.
func (g *graph) dependentsOf(uid string) (all []objectReference) {
	if f := g.byOwner[uid]; f != nil {
		for n := range f.dependents {
			all = append(all, n.objectReference)
		}
	}
	return all
}

// ownerDeleted reports whether the end of an owner was seen, since it has dependents.
func (g *graph) ownerDeleted(uid string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.byOwner[uid]
	return f != nil && f.deleted
}

// hasBlockingDependent reports whether an owner has a dependent with blockOwnerDeletion.
func (g *graph) hasBlockingDependent(uid string) bool {
	return g.anyDependent(uid, func(_ *node, blocks bool) bool { return blocks })
}

// hasDependents reports whether an object has dependents.
func (g *graph) hasDependents(uid string) bool {
	return g.anyDependent(uid, func(*node, bool) bool { return true })
}

// hasForegroundDependent reports whether an object has a dependent that is itself being deleted in the
// foreground.
func (g *graph) hasForegroundDependent(uid string) bool {
	return g.anyDependent(uid, func(n *node, _ bool) bool { return n.foreground })
}

// The function is called with the lock held, and must not call the graph.
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
