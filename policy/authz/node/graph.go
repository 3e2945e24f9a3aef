package node

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy"
)

// A vertex is an object that may belong to a node. namespace is empty for cluster-scoped objects.
type vertex struct {
	kind            vertexKind
	namespace, name string
}

// A vertexKind determines the path from an object to a node (see isRelated).
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
	podCertificateVertex
)

// A graph holds the relations between objects and nodes. Its size depends on the number of
// scheduled Pods, not on the number of objects.
type graph struct {
	mirrorAnnotation string // annotation of mirror Pods

	mu   sync.RWMutex // guards the fields below
	pods map[vertex]pod
	// podRefs counts, for each object and node, the Pods on the node that refer to the object.
	podRefs map[vertex]map[string]int
	// volumes holds the PersistentVolumes bound to a claim. secrets maps Secrets to the volumes
	// that refer to them.
	volumes map[vertex]volume
	secrets map[vertex]map[vertex]bool
	// nodeNames maps objects of other kinds to the node in their spec.nodeName.
	nodeNames map[vertex]string
	// generation counts changes to the fields above. It is read without the lock.
	generation atomic.Uint64
}

// A pod records a Pod's references, so that they can be removed when the Pod changes.
type pod struct {
	node string
	refs []vertex
}

type volume struct {
	claim   vertex
	secrets []vertex
}

func newGraph(mirror string) *graph {
	return &graph{
		mirrorAnnotation: mirror, pods: map[vertex]pod{}, podRefs: map[vertex]map[string]int{},
		volumes: map[vertex]volume{}, secrets: map[vertex]map[vertex]bool{}, nodeNames: map[vertex]string{},
	}
}

// isRelated reports whether v belongs to a node. A Secret belongs to a node if a Pod refers to it
// directly, or through a claim whose volume uses the Secret.
func (g *graph) isRelated(v vertex, node string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	switch v.kind {
	case podVertex:
		p, ok := g.pods[v]
		return ok && p.node == node
	case volumeAttachmentVertex, resourceSliceVertex, podCertificateVertex:
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

// handlePod atomically replaces the references from a Pod to other objects. It ignores mirror Pods.
// Otherwise a node could grant itself access to any Secret by creating a mirror Pod.
func (g *graph) handlePod(c policy.Change) {
	v := vertex{podVertex, c.Key.Namespace, c.Key.Name}
	var now pod
	if !c.Deleted {
		now.node = c.Tree.Object("spec").String("nodeName")
		if _, mirrors := c.Tree.Annotations()[g.mirrorAnnotation]; !mirrors && now.node != "" {
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

// addPodRefs adds by to the counts of the objects to which a Pod refers. The counts are needed,
// because several Pods on a node may refer to the same object.
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

// handleVolume updates the Secrets of a volume. The graph contains only bound volumes.
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

// handleNodeNamed returns the event handler for a kind with spec.nodeName. If spec.nodeName
// changes, the previous node immediately loses access to the object.
func (g *graph) handleNodeNamed(kind vertexKind) func(policy.Change) {
	return func(c policy.Change) {
		v := vertex{kind, c.Key.Namespace, c.Key.Name}
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
