package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLazy checks that a context ends at its deadline or by Stop, and waiters learn of both.
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

// TestWaiter checks that the waiter is paused by the first Done only.
func TestWaiter(t *testing.T) {
	var told pauses
	d := At(time.Now().Add(time.Minute), &told)
	if _ = d.Err(); told != 0 {
		t.Error("nobody waits yet")
	}
	if d.Done(); told != 1 {
		t.Error("somebody waits")
	}
	if d.Done(); told != 1 {
		t.Error("told twice")
	}
	d.Stop()
	stopped := At(time.Now().Add(time.Minute), &told)
	stopped.Stop()
	if <-stopped.Done(); told != 1 {
		t.Error("nobody waits for what has ended")
	}
}
