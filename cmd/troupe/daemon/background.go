package daemon

import (
	"context"
	"sync"
)

// background is work that goes on beside requests, until it is stopped. A Daemon has three of them, because
// they must end at different moments of Stop.
type background struct {
	ctx     context.Context // ends with stop
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// newBackground makes a group whose context ends with stop. It descends from no other context: what runs in the
// background outlives the call that started it.
func newBackground() *background {
	b := &background{}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// run lets work go on until its context ends. It must not be called once stop has begun.
func (b *background) run(work func(ctx context.Context)) {
	b.running.Go(func() { work(b.ctx) })
}

// stop ends all work and waits for it.
func (b *background) stop() {
	b.cancel()
	b.running.Wait()
}
