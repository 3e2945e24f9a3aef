package controllers

import (
	"context"
	"sync"
)

// A Progress is how far somebody has come who follows the changes of a kind. Its zero value is
// that of nobody yet. Many goroutines may use it.
type ObservedRevision struct {
	mu       sync.Mutex // guards the rest
	version  uint64
	advanced chan struct{} // closed when version rises; nil while nobody waits
}

// Advance says that everything up to a version has been dealt with.
func (p *ObservedRevision) Advance(version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = max(p.version, version)
	if p.advanced != nil {
		close(p.advanced)
		p.advanced = nil
	}
}

// Wait waits until everything up to a version has been dealt with, or ctx ends.
func (p *ObservedRevision) Wait(ctx context.Context, version uint64) {
	for ctx.Err() == nil {
		p.mu.Lock()
		if p.version >= version {
			p.mu.Unlock()
			return
		}
		if p.advanced == nil {
			p.advanced = make(chan struct{})
		}
		advanced := p.advanced
		p.mu.Unlock()
		select {
		case <-advanced:
		case <-ctx.Done():
		}
	}
}
