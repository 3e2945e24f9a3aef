package flowcontrol

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy/authz"
)

// Watches counts open watches by scope, since a write costs more the more watches it concerns.
type Watches struct {
	total atomic.Int64
	mu    sync.Mutex // guards open
	open  map[watched]int
}

// A watched is the scope of a watch: a resource, a namespace of it, or one object.
type watched struct{ group, resource, namespace, name string }

// Add counts a watch until remove is called, once.
func (w *Watches) Add(a *authz.Attributes) (remove func()) {
	key := watched{a.Group, a.Resource, a.Namespace, a.Name}
	w.add(key, 1)
	return func() { w.add(key, -1) }
}

// add adds n to a count. Entries without watches are removed, so the map does not outgrow the
// watches.
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

// interested returns the number of watches that a write concerns.
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
