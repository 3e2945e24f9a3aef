package flowcontrol

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy/authz"
)

// Watches counts open watches by scope.
type Watches struct {
	total atomic.Int64
	mu    sync.Mutex // guards open
	open  map[watched]int
}

// A watched is the scope of a watch: a resource, a resource in a namespace, or one object.
type watched struct{ group, resource, namespace, name string }

// Add counts a watch until remove is called, which must happen exactly once.
func (w *Watches) Add(a *authz.Attributes) (remove func()) {
	key := watched{a.Group, a.Resource, a.Namespace, a.Name}
	w.add(key, 1)
	return func() { w.add(key, -1) }
}

// add adds n to the count of a scope. It removes scopes without watches, so that the map is never
// larger than the number of open watches.
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

// interested returns the number of watches to which a write must be delivered.
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
