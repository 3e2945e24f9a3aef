package reconcile

import (
	"context"
	"sync"
)

// An Exclusive serializes work that several controllers need and one of them does. The zero value
// is ready to use.
type Exclusive struct {
	mu   sync.Mutex
	slot chan struct{}
}

// Run calls do as soon as no other call is running, unless the context ends first.
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
