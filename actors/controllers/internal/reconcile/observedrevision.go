package reconcile

import (
	"context"
	"sync"
)

// ObservedRevision is the version up to which a controller has processed the changes of a kind.
// Requests can wait for a version. The zero value is ready to use. It is safe for concurrent use.
type ObservedRevision struct {
	mu       sync.Mutex // guards the fields below
	version  uint64
	advanced chan struct{} // closed when version rises; nil without waiters
}

// Advance records that all changes up to version have been processed.
func (p *ObservedRevision) Advance(version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = max(p.version, version)
	if p.advanced != nil {
		close(p.advanced)
		p.advanced = nil
	}
}

// HasSeen reports whether all changes up to version have been processed.
func (p *ObservedRevision) HasSeen(version uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version >= version
}

// Wait blocks until all changes up to version have been processed, or ctx is done.
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
