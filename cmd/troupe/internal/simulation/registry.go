package simulation

import (
	"sync"
	"time"
)

// registry is what is known of Pods and Nodes. Pods in it are not changed: a new state is a new Pod.
type registry struct {
	mu    sync.Mutex
	pods  map[objectKey]podRecord
	nodes map[string]*node // those that are ours
}

// A podRecord is a Pod with what its status does not tell yet.
type podRecord struct {
	pod   *Pod
	bound time.Time // when it was first seen
	ip    string    // that it has, or will have
}

// A node is one that is ours, as the API has it.
type node struct {
	present bool           // it has not been deleted
	down    bool           // it is to be silent
	ready   bool           // as its status says
	since   time.Time      // since when; zero if it is not
	foreign map[string]any // resources of others that are to be allocatable; nil for one that is not to be
}

func newRegistry() registry {
	return registry{pods: map[objectKey]podRecord{}, nodes: map[string]*node{}}
}

func (r *registry) pod(key objectKey) (podRecord, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.pods[key]
	return p, ok
}

// allPods are the Pods that are known, in no order.
func (r *registry) allPods() []*Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Pod, 0, len(r.pods))
	for _, p := range r.pods {
		all = append(all, p.pod)
	}
	return all
}

// putPod puts a state of a Pod, unless a newer one is there. The address is that of another Pod with the same name, which is
// free now; "" if there is none.
func (r *registry) putPod(p *Pod) (address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have, ok := r.pods[p.key()]
	switch {
	case !ok, have.pod.Metadata.UID != p.Metadata.UID && have.pod.Metadata.version() < p.Metadata.version():
		r.pods[p.key()] = podRecord{pod: p, bound: time.Now(), ip: p.Status.PodIP}
		return have.ip
	case have.pod.Metadata.version() < p.Metadata.version():
		have.pod = p
		if p.Status.PodIP != "" {
			have.ip = p.Status.PodIP
		}
		r.pods[p.key()] = have
	}
	return ""
}

// updatePod puts the answer to a write, unless a newer state is there or the Pod is gone meanwhile.
func (r *registry) updatePod(p *Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have, ok := r.pods[p.key()]
	if ok && have.pod.Metadata.UID == p.Metadata.UID && have.pod.Metadata.version() < p.Metadata.version() {
		have.pod = p
		r.pods[p.key()] = have
	}
}

// dropPod forgets a Pod and returns what was known of it; nil if it was not.
func (r *registry) dropPod(key objectKey) *podRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.pods[key]
	if !ok {
		return nil
	}
	delete(r.pods, key)
	return &p
}

func (r *registry) setIP(key objectKey, uid, ip string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.pods[key]; ok && p.pod.Metadata.UID == uid {
		p.ip = ip
		r.pods[key] = p
	}
}

// isOurs tells whether a node is played here.
func (r *registry) isOurs(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.nodes[node] != nil
}

// isDown tells whether a node does nothing now.
func (r *registry) isDown(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.nodes[node]
	return n == nil || n.down || !n.present
}

// Counts are how many Pods on the nodes are in each part of their life.
type Counts struct{ Starting, Running, Ended, Terminating int }

// Counts counts the Pods on the nodes.
func (r *registry) Counts() (n Counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pods {
		switch {
		case p.pod.terminating():
			n.Terminating++
		case p.pod.ended():
			n.Ended++
		case p.pod.Status.Phase == running:
			n.Running++
		default:
			n.Starting++
		}
	}
	return n
}
