package flowcontrol

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy/authz"
)

// Watches counts the open watches by what they are about, since a write costs more the more are told of it.
type Watches struct {
	total atomic.Int64
	mu    sync.Mutex // guards open
	open  map[watched]int
}

// watched is what a watch is about: all objects of a resource, those of a namespace, or one.
type watched struct{ group, resource, namespace, name string }

// Add counts a watch until the returned function is called, once.
func (w *Watches) Add(a *authz.Attributes) (remove func()) {
	key := watched{a.Group, a.Resource, a.Namespace, a.Name}
	w.add(key, 1)
	return func() { w.add(key, -1) }
}

// add counts n more. What no watch is about has no entry, so the map is no larger than the number of watches.
func (w *Watches) add(key watched, n int) {
	w.total.Add(int64(n))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[watched]int{}
	}
	if w.open[key] += n; w.open[key] == 0 {
		delete(w.open, key)
	}
}

// interested returns how many watches a write concerns.
func (w *Watches) interested(a *authz.Attributes) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.open[watched{group: a.Group, resource: a.Resource}]
	if a.Namespace != "" {
		n += w.open[watched{group: a.Group, resource: a.Resource, namespace: a.Namespace}]
	}
	if a.Name != "" {
		n += w.open[watched{a.Group, a.Resource, a.Namespace, a.Name}]
	}
	return n
}
