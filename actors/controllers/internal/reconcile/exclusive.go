package reconcile

import (
	"context"
	"sync"
)

// An Exclusive runs work that several controllers need, for one of them at a time. The zero value
// is ready to use.
type Exclusive struct {
	mu   sync.Mutex
	slot chan struct{}
}

// Run blocks until no other call is running, and then calls do, unless ctx is done first.
func (x *Exclusive) Run(ctx context.Context, do func()) {
	x.mu.Lock()
	if x.slot == nil {
		x.slot = make(chan struct{}, 1)
	}
	x.mu.Unlock()
	select {
	case x.slot <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-x.slot }()
	if ctx.Err() == nil {
		do()
	}
}
