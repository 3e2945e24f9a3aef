package daemon

import (
	"context"
	"sync"
)

// A base holds the settings, the other components, and background work that runs until Stop. Every
// component embeds it.
type base struct {
	*settings
	*components
	ctx     context.Context // ends with Stop
	cancel  context.CancelFunc
	running *sync.WaitGroup
}

// newBase returns a base with its own context, because background work outlives Start.
func newBase(s *settings, c *components) base {
	ctx, cancel := context.WithCancel(context.Background())
	return base{s, c, ctx, cancel, &sync.WaitGroup{}}
}

// run runs work in a goroutine. Do not call it once Stop has begun.
func (b base) run(work func(ctx context.Context)) {
	b.running.Go(func() { work(b.ctx) })
}

func (b base) Stop(context.Context) error {
	b.cancel()
	b.running.Wait()
	return nil
}
