package node

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/policy"
)

// A vertex is an object that a node may come by; namespace is "" at cluster scope.
type vertex struct {
	sort            sort
	namespace, name string
}

type sort uint8

const (
	ofPod sort = iota
	ofAccount
	ofSecret
	ofConfigMap
	ofClaim
	ofResourceClaim
	ofVolume
	ofAttachment
	ofSlice
)

// A graph knows which objects belong to which nodes.
type graph struct {
	mirror string // the annotation of mirror Pods

	mu sync.RWMutex // guards all that follows
	// pods are those that are bound to a node.
	pods map[vertex]pod
	// needs count, of each object, the Pods that name it, by their nodes.
	needs map[vertex]map[string]int
	// volumes are those that are bound to a claim; secrets are the volumes that name a Secret.
	volumes map[vertex]volume
	secrets map[vertex]map[vertex]bool
	// own are the objects that name their node themselves.
	own map[vertex]string
	// changes counts those of all above. It is read without the lock.
	changes atomic.Uint64
}

type pod struct {
	node  string
	needs []vertex
}

type volume struct {
	claim   vertex
	secrets []vertex
}

func newGraph(mirror string) *graph {
	return &graph{
		mirror: mirror, pods: map[vertex]pod{}, needs: map[vertex]map[string]int{},
		volumes: map[vertex]volume{}, secrets: map[vertex]map[vertex]bool{}, own: map[vertex]string{},
	}
}

// belongs tells whether v belongs to a node.
func (g *graph) belongs(v vertex, node string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	switch v.sort {
	case ofPod:
		p, ok := g.pods[v]
		return ok && p.node == node
	case ofAttachment, ofSlice:
		own, ok := g.own[v]
		return ok && own == node
	case ofVolume:
		known, ok := g.volumes[v]
		return ok && g.needs[known.claim][node] > 0
	}
	if g.needs[v][node] > 0 {
		return true
	}
	for from := range g.secrets[v] {
		if g.needs[g.volumes[from].claim][node] > 0 {
			return true
		}
	}
	return false
}

// seePod follows Pods.
func (g *graph) seePod(c policy.Change) {
	v := vertex{ofPod, c.Key.Namespace, c.Key.Name}
	var now pod
	if !c.Gone {
		now.node = rules.Text(rules.Sub(c.Tree, "spec"), "nodeName")
		if _, mirrors := rules.Sub(c.Tree, "metadata", "annotations")[g.mirror]; !mirrors && now.node != "" {
			now.needs = podNeeds(c.Object)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.changes.Add(1)
	if before, ok := g.pods[v]; ok {
		g.count(before, -1)
		delete(g.pods, v)
	}
	if now.node != "" {
		g.count(now, 1)
		g.pods[v] = now
	}
}

// count adds to the counts of what a Pod needs.
func (g *graph) count(p pod, by int) {
	for _, v := range p.needs {
		nodes := g.needs[v]
		if nodes == nil {
			nodes = map[string]int{}
			g.needs[v] = nodes
		}
		if nodes[p.node] += by; nodes[p.node] == 0 {
			delete(nodes, p.node)
		}
		if len(nodes) == 0 {
			delete(g.needs, v)
		}
	}
}

// seeVolume follows PersistentVolumes.
func (g *graph) seeVolume(c policy.Change) {
	v := vertex{sort: ofVolume, name: c.Key.Name}
	var now volume
	bound := false
	if !c.Gone {
		now, bound = readVolume(c.Tree)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.changes.Add(1)
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

// seeOwn follows objects of a sort that name their node themselves.
func (g *graph) seeOwn(sort sort) func(policy.Change) {
	return func(c policy.Change) {
		v := vertex{sort: sort, name: c.Key.Name}
		node := ""
		if !c.Gone {
			node = rules.Text(rules.Sub(c.Tree, "spec"), "nodeName")
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		defer g.changes.Add(1)
		if node == "" {
			delete(g.own, v)
		} else {
			g.own[v] = node
		}
	}
}
