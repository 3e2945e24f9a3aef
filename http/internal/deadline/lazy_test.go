package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLazy checks that a context ends at its deadline or when it is stopped, and closes Done.
func TestLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := After(time.Now(), time.Minute, nil)
		if d.Err() != nil || d.timer != nil {
			t.Error("it has ended, or has a timer already")
		}
		<-d.Done()
		if !errors.Is(d.Err(), context.DeadlineExceeded) {
			t.Error(d.Err())
		}
		stopped := After(time.Now(), time.Minute, nil)
		done := stopped.Done()
		stopped.Stop()
		<-done
		if !errors.Is(stopped.Err(), context.Canceled) {
			t.Error(stopped.Err())
		}
		late := After(time.Now(), time.Minute, nil)
		late.Stop()
		<-late.Done()
	})
}

type pauses int

func (p *pauses) Pause() { *p++ }

func (p *pauses) Left() bool { return false }

type client struct {
	leaves time.Time
	asked  int
}

func (*client) Pause() {}

func (c *client) Left() bool {
	c.asked++
	return !time.Now().Before(c.leaves)
}

// TestLeft checks that a context polls its client rarely, but often enough to notice a disconnect.
func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client{leaves: time.Now().Add(time.Second)}
		d := After(time.Now(), time.Minute, &c)
		for d.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if late := time.Since(c.leaves); !errors.Is(d.Err(), context.Canceled) || late > lookInterval {
			t.Errorf("%v, %v after the client left", d.Err(), late)
		}
		if c.asked > 20 {
			t.Errorf("asked %d times in a second", c.asked)
		}
		<-d.Done()
		fast := After(time.Now(), time.Minute, &c)
		if c.asked = 0; fast.Err() != nil || c.asked > 0 {
			t.Error("a request that has just begun looked for its client")
		}
	})
}

func TestPause(t *testing.T) {
	var reported pauses
	d := After(time.Now(), time.Minute, &reported)
	if _ = d.Err(); reported != 0 {
		t.Error("paused before the first Done")
	}
	if d.Done(); reported != 1 {
		t.Error("not paused by the first Done")
	}
	if d.Done(); reported != 1 {
		t.Error("paused twice")
	}
	d.Stop()
	stopped := After(time.Now(), time.Minute, &reported)
	stopped.Stop()
	if <-stopped.Done(); reported != 1 {
		t.Error("paused by a stopped context")
	}
}
