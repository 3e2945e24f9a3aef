package daemon

import (
	"context"
	"sync"
)

// A base holds what all components share: the settings, the other components, and background work
// that runs until Stop.
type base struct {
	*settings
	*components
	ctx     context.Context // ends with Stop
	cancel  context.CancelFunc
	running *sync.WaitGroup
}

// newBase returns a base with a context of its own, because the work outlives the caller of Start.
func newBase(s *settings, c *components) base {
	ctx, cancel := context.WithCancel(context.Background())
	return base{s, c, ctx, cancel, &sync.WaitGroup{}}
}

// run starts work in the background. It must not be called once Stop has begun.
func (b base) run(work func(ctx context.Context)) {
	b.running.Go(func() { work(b.ctx) })
}

func (b base) Stop(context.Context) error {
	b.cancel()
	b.running.Wait()
	return nil
}
