package runtime

import "testing"

func TestDispatcherRunsWhileWorkersBlock(t *testing.T) {
	c := newDispatcher(1)
	gate, done := make(chan struct{}), make(chan struct{})
	const blocked = 50
	entered := make(chan struct{}, blocked)
	for range blocked {
		c.Schedule(func() { entered <- struct{}{}; <-gate })
	}
	for range blocked {
		<-entered
	}
	c.Schedule(func() { close(done) })
	<-done
	close(gate)
	c.close()
	c.Schedule(func() { done = nil; entered <- struct{}{} }) // work is run even after close
	<-entered
}
