package node

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy"
)

// A vertex is an object that may belong to a node; namespace is "" at cluster scope.
type vertex struct {
	kind            vertexKind
	namespace, name string
}

// The kinds of objects differ in the way that leads from them to a node (isRelated).
type vertexKind uint8

const (
	podVertex vertexKind = iota
	serviceAccountVertex
	secretVertex
	configMapVertex
	pvcVertex
	resourceClaimVertex
	pvVertex
	volumeAttachmentVertex
	resourceSliceVertex
)

// A graph knows which objects belong to which nodes.
//
// It has the size of the Pods that are bound, not of the objects that they name: an object that no Pod names is not
// in it. A question costs two or three looks into maps and, for a Secret, one for each volume that names it.
type graph struct {
	mirrorAnnotation string // the annotation of mirror Pods

	mu sync.RWMutex // guards all that follows
	// pods are those that are bound to a node.
	pods map[vertex]pod
	// podRefs count, of each object, the Pods that name it, by their nodes.
	podRefs map[vertex]map[string]int
	// volumes are those that are bound to a claim; secrets are the volumes that name a Secret.
	volumes map[vertex]volume
	secrets map[vertex]map[vertex]bool
	// nodeNames are the objects that name their node themselves.
	nodeNames map[vertex]string
	// generation counts those of all above. It is read without the lock.
	generation atomic.Uint64
}

// refs are kept, so that exactly these are taken back when the Pod changes or goes.
type pod struct {
	node string
	refs []vertex
}

// secrets are those that the volume names itself; the claim's Pods get access through it.
type volume struct {
	claim   vertex
	secrets []vertex
}

// newGraph makes a graph without objects: nobody is related to anything.
func newGraph(mirror string) *graph {
	return &graph{
		mirrorAnnotation: mirror, pods: map[vertex]pod{}, podRefs: map[vertex]map[string]int{},
		volumes: map[vertex]volume{}, secrets: map[vertex]map[vertex]bool{}, nodeNames: map[vertex]string{},
	}
}

// isRelated tells whether v belongs to a node.
//
// A Secret is reached by a Pod that names it, or by a volume whose claim a Pod names. No longer way exists, so this
// is no search.
func (g *graph) isRelated(v vertex, node string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	switch v.kind {
	case podVertex:
		p, ok := g.pods[v]
		return ok && p.node == node
	case volumeAttachmentVertex, resourceSliceVertex:
		own, ok := g.nodeNames[v]
		return ok && own == node
	case pvVertex:
		known, ok := g.volumes[v]
		return ok && g.podRefs[known.claim][node] > 0
	}
	if g.podRefs[v][node] > 0 {
		return true
	}
	for from := range g.secrets[v] {
		if g.podRefs[g.volumes[from].claim][node] > 0 {
			return true
		}
	}
	return false
}

// handlePod follows Pods.
//
// What the Pod named before is taken back in full, and what it names now added, under one lock: no question sees the
// state between. A mirror Pod names nothing here even if its body does, since a node could give itself any Secret
// that way.
func (g *graph) handlePod(c policy.Change) {
	v := vertex{podVertex, c.Key.Namespace, c.Key.Name}
	var now pod
	if !c.Deleted {
		now.node = c.Tree.Object("spec").String("nodeName")
		if _, mirrors := c.Tree.Object("metadata", "annotations")[g.mirrorAnnotation]; !mirrors && now.node != "" {
			now.refs = podReferences(c.Object)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.generation.Add(1)
	if before, ok := g.pods[v]; ok {
		g.addPodRefs(before, -1)
		delete(g.pods, v)
	}
	if now.node != "" {
		g.addPodRefs(now, 1)
		g.pods[v] = now
	}
}

// addPodRefs adds to the counts of what a Pod needs.
//
// They are counts, because several Pods of a node may name the same object, and only the last of them to go takes the
// access with it.
func (g *graph) addPodRefs(p pod, by int) {
	for _, v := range p.refs {
		nodes := g.podRefs[v]
		if nodes == nil {
			nodes = map[string]int{}
			g.podRefs[v] = nodes
		}
		if nodes[p.node] += by; nodes[p.node] == 0 {
			delete(nodes, p.node)
		}
		if len(nodes) == 0 {
			delete(g.podRefs, v)
		}
	}
}

// handleVolume follows PersistentVolumes.
//
// A volume that is no longer bound leads nowhere, and is not kept.
func (g *graph) handleVolume(c policy.Change) {
	v := vertex{kind: pvVertex, name: c.Key.Name}
	var now volume
	bound := false
	if !c.Deleted {
		now, bound = readVolume(c.Tree)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.generation.Add(1)
	for _, secret := range g.volumes[v].secrets {
		if delete(g.secrets[secret], v); len(g.secrets[secret]) == 0 {
			delete(g.secrets, secret)
		}
	}
	delete(g.volumes, v)
	if !bound {
		return
	}
	g.volumes[v] = now
	for _, secret := range now.secrets {
		if g.secrets[secret] == nil {
			g.secrets[secret] = map[vertex]bool{}
		}
		g.secrets[secret][v] = true
	}
}

// handleNodeNamed follows objects of a sort that name their node themselves. An object that comes to
// another node leaves the first one at once.
func (g *graph) handleNodeNamed(kind vertexKind) func(policy.Change) {
	return func(c policy.Change) {
		v := vertex{kind: kind, name: c.Key.Name}
		node := ""
		if !c.Deleted {
			node = c.Tree.Object("spec").String("nodeName")
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		defer g.generation.Add(1)
		if node == "" {
			delete(g.nodeNames, v)
		} else {
			g.nodeNames[v] = node
		}
	}
}
