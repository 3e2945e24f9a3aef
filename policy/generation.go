package policy

import "sync"

// A Generation tells whether anything has changed by which it is decided who may do what: stored
// objects, certificate authorities, keys. Whoever keeps a decision keeps it for as long as Current
// stays the same. What ends with time alone, such as a token that expires, is not part of it.
type Generation struct {
	sources []func() any // complete before the first call of Current

	mu    sync.Mutex // guards the rest
	seen  []any
	count uint64
}

// AddSource makes a value count. It must be comparable with ==, and source must be cheap: it is
// called for each request. All sources are added before Current is called for the first time.
func (g *Generation) AddSource(source func() any) { g.sources = append(g.sources, source) }

// Current is another number than before if one of the values is another. Many goroutines may call
// it.
func (g *Generation) Current() uint64 {
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
