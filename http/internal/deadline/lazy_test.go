package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLazy: a context ends at its time, or when it is stopped; whoever waits is told in both cases.
func TestLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := At(time.Now().Add(time.Minute))
		if d.Err() != nil || d.timer != nil {
			t.Error("it has ended, or has a timer already")
		}
		<-d.Done()
		if !errors.Is(d.Err(), context.DeadlineExceeded) {
			t.Error(d.Err())
		}
		stopped := At(time.Now().Add(time.Minute))
		done := stopped.Done()
		stopped.Stop()
		<-done
		if !errors.Is(stopped.Err(), context.Canceled) {
			t.Error(stopped.Err())
		}
		late := At(time.Now().Add(time.Minute))
		late.Stop()
		<-late.Done()
	})
}
