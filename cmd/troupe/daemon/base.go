package daemon

import (
	"context"
	"sync"
)

// A base is what all components have: the settings, and work in the background that goes on until the component is
// stopped.
type base struct {
	*settings
	ctx     context.Context // ends with Stop
	cancel  context.CancelFunc
	running *sync.WaitGroup
}

// newBase returns a base whose context descends from no other one: the work outlives the call that starts it.
func newBase(s *settings) base {
	ctx, cancel := context.WithCancel(context.Background())
	return base{s, ctx, cancel, &sync.WaitGroup{}}
}

// run starts work, which ends with its context. It must not be called once Stop has begun.
func (b base) run(work func(ctx context.Context)) {
	b.running.Go(func() { work(b.ctx) })
}

// Stop ends all work and waits for it.
func (b base) Stop(context.Context) error {
	b.cancel()
	b.running.Wait()
	return nil
}
