package policy

import "sync"

// A Generation changes when an input to access decisions changes, such as a stored object, a CA or
// a key. Cached decisions are valid while Current stays the same. Callers must check expiration,
// such as that of tokens, separately.
type Generation struct {
	sources []func() any // complete before the first call of Current

	mu    sync.Mutex // guards the fields below
	seen  []any
	count uint64
}

// AddSource adds an input. The results of source must be comparable with ==. source must be cheap,
// because it is called for each request. All sources must be added before the first call of
// Current.
func (g *Generation) AddSource(source func() any) { g.sources = append(g.sources, source) }

// Current returns the generation, which increases whenever an input has changed. It is safe for
// concurrent use.
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
