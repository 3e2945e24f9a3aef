package simulation

import (
	"sync"
	"time"
)

// registry holds the known Pods and Nodes. Pods are replaced, never modified.
type registry struct {
	mu    sync.Mutex
	pods  map[objectKey]podRecord
	nodes map[string]*node // nodes of this cluster
}

// A podRecord is a Pod with data that is not in its status yet.
type podRecord struct {
	pod   *Pod
	bound time.Time // when it was first seen
	ip    string    // current or future address
}

// A node is the state of a simulated Node in the API.
type node struct {
	present bool           // not deleted
	down    bool           // see downAnnotation
	ready   bool           // is ready according to its status
	since   time.Time      // when it became ready; zero if it is not ready
	foreign map[string]any // see foreignResources
}

func (r *registry) pod(key objectKey) (podRecord, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.pods[key]
	return p, ok
}

func (r *registry) allPods() []*Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Pod, 0, len(r.pods))
	for _, p := range r.pods {
		all = append(all, p.pod)
	}
	return all
}

// putPod stores a Pod, unless a newer version is known. If it replaces another Pod with the same
// name, it returns that Pod's IP address, so that the caller can release it.
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

func (r *registry) updatePod(p *Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have, ok := r.pods[p.key()]
	if ok && have.pod.Metadata.UID == p.Metadata.UID && have.pod.Metadata.version() < p.Metadata.version() {
		have.pod = p
		r.pods[p.key()] = have
	}
}

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

func (r *registry) isOurs(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.nodes[node] != nil
}

func (r *registry) isDown(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.nodes[node]
	return n == nil || n.down || !n.present
}

// Counts holds the number of Pods in each stage.
type Counts struct{ Starting, Running, Ended, Terminating int }

// Counts returns the number of Pods in each stage.
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
