package daemon

import (
	"context"
	"sync"
)

// background is work that goes on beside requests, until it is stopped.
type background struct {
	ctx     context.Context // ends with stop
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newBackground() *background {
	b := &background{}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// run lets work go on until its context ends.
func (b *background) run(work func(ctx context.Context)) {
	b.running.Go(func() { work(b.ctx) })
}

// stop ends all work and waits for it.
func (b *background) stop() {
	b.cancel()
	b.running.Wait()
}
