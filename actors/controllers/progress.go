package controllers

import (
	"context"
	"sync"
)

// A Progress is how far somebody has come who follows the changes of a kind. Its zero value is
// that of nobody yet. Many goroutines may use it.
type Progress struct {
	mu      sync.Mutex // guards the rest
	version uint64
	moved   chan struct{} // closed when version rises; nil while nobody waits
}

// Reach says that everything up to a version has been dealt with.
func (p *Progress) Reach(version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = max(p.version, version)
	if p.moved != nil {
		close(p.moved)
		p.moved = nil
	}
}

// Await waits until everything up to a version has been dealt with, or ctx ends.
func (p *Progress) Await(ctx context.Context, version uint64) {
	for ctx.Err() == nil {
		p.mu.Lock()
		if p.version >= version {
			p.mu.Unlock()
			return
		}
		if p.moved == nil {
			p.moved = make(chan struct{})
		}
		moved := p.moved
		p.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
}
