package daemon

import (
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A generation tells whether anything has changed by which it is decided who may do what: stored
// objects, authorities, keys. What ends with time alone is not part of it.
type generation struct {
	sources []func() any // nobody adds one once now is called

	mu    sync.Mutex // guards the rest
	seen  []any
	count uint64
}

// follow makes a value count, which can be compared.
func (g *generation) follow(source func() any) { g.sources = append(g.sources, source) }

// followStore makes the objects count that tokens are bound to, or are in.
func (g *generation) followStore(o *objects) {
	for _, resource := range []string{"serviceaccounts", "secrets", "pods", "nodes"} {
		if k := o.kind(meta.GroupResource{Resource: resource}); k != nil {
			g.follow(func() any { return o.store.Changed(k.Storage) })
		}
	}
}

// now is another number than before if one of the values is another.
func (g *generation) now() uint64 {
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
