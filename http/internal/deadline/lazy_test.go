package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLazy checks that a context ends at its deadline or when it is stopped, and that both close
// Done.
func TestLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := At(time.Now().Add(time.Minute), nil)
		if d.Err() != nil || d.timer != nil {
			t.Error("it has ended, or has a timer already")
		}
		<-d.Done()
		if !errors.Is(d.Err(), context.DeadlineExceeded) {
			t.Error(d.Err())
		}
		stopped := At(time.Now().Add(time.Minute), nil)
		done := stopped.Done()
		stopped.Stop()
		<-done
		if !errors.Is(stopped.Err(), context.Canceled) {
			t.Error(stopped.Err())
		}
		late := At(time.Now().Add(time.Minute), nil)
		late.Stop()
		<-late.Done()
	})
}

type pauses int

func (p *pauses) Pause() { *p++ }

// TestWaiter checks that only the first call of Done pauses the waiter.
func TestWaiter(t *testing.T) {
	var told pauses
	d := At(time.Now().Add(time.Minute), &told)
	if _ = d.Err(); told != 0 {
		t.Error("paused before the first Done")
	}
	if d.Done(); told != 1 {
		t.Error("not paused by the first Done")
	}
	if d.Done(); told != 1 {
		t.Error("paused twice")
	}
	d.Stop()
	stopped := At(time.Now().Add(time.Minute), &told)
	stopped.Stop()
	if <-stopped.Done(); told != 1 {
		t.Error("paused by a stopped context")
	}
}
