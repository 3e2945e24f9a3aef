package daemon

import (
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A generation tells whether anything has changed by which it is decided who may do what: stored
// objects, authorities, keys. What ends with time alone is not part of it.
type policyGeneration struct {
	sources []func() any // nobody adds one once now is called

	mu    sync.Mutex // guards the rest
	seen  []any
	count uint64
}

// addSource makes a value count, which can be compared.
func (g *policyGeneration) addSource(source func() any) { g.sources = append(g.sources, source) }

// addStoreSources makes the objects count that tokens are bound to, or are in.
func (g *policyGeneration) addStoreSources(o *objectReader) {
	for _, resource := range []string{"serviceaccounts", "secrets", "pods", "nodes"} {
		if k := o.kind(meta.GroupResource{Resource: resource}); k != nil {
			g.addSource(func() any { return o.store.CollectionVersion(k.Storage) })
		}
	}
}

// current is another number than before if one of the values is another.
func (g *policyGeneration) current() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen == nil {
		g.seen = make([]any, len(g.sources))
	}
	for i, source := range g.sources {
		if value := source(); value != g.seen[i] {
			g.seen[i] = value
			g.count++
		}
	}
	return g.count
}
