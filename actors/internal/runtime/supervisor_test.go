package runtime

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"
)

func TestPanics(t *testing.T) {
	for _, test := range []struct {
		strategy          Strategy
		owners            int // number of created owners
		panics, restarted uint64
		stopped           bool
		sum               int // sum of the last owner
	}{
		{Restart, 3, 2, 2, false, 1},
		{Resume, 1, 2, 0, false, 3},
		{Stop, 1, 1, 0, true, 1},
	} {
		r := newRuntime(t, test.strategy)
		var mu sync.Mutex
		owners, sum := 0, 0
		ref := r.Spawn(Spec{New: func() Owner {
			mu.Lock()
			defer mu.Unlock()
			owners, sum = owners+1, 0
			return receiver(func(_ *Ref, message any) {
				switch message {
				case "add":
					mu.Lock()
					sum++
					mu.Unlock()
				case "panic":
					panic("panic")
				}
			})
		}})
		for _, message := range []string{"add", "panic", "add", "panic", "add"} {
			ref.Send(message)
		}
		if !test.stopped {
			ref.Drain()
		}
		awaitStopped(t, r, ref)
		mu.Lock()
		if owners != test.owners || sum != test.sum || r.Panics() != test.panics || r.Restarts() != test.restarted {
			t.Errorf("%s: %d owners, sum %d, %d panics, %d restarts; want %+v", test.strategy, owners, sum, r.Panics(), r.Restarts(), test)
		}
		mu.Unlock()
	}
}

func TestTooManyRestarts(t *testing.T) {
	r := newRuntime(t, Restart)
	ref := spawn(r, 0, false, func(_ *Ref, message any) {
		if message == "panic" {
			panic("panic")
		}
	})
	for range 4 {
		ref.Send("panic")
	}
	awaitStopped(t, r, ref)
	late := newRequest("late")
	ref.Send(late)
	if err := <-late.answer; !errors.Is(err, ErrStopped) || r.Restarts() != 3 {
		t.Errorf("after %d restarts: %v", r.Restarts(), err)
	}
}

func TestPanicInStopping(t *testing.T) {
	r := newRuntime(t, Restart)
	ref := spawn(r, 0, false, func(_ *Ref, message any) {
		if message == (Stopping{}) {
			panic("panic")
		}
	})
	ref.Stop()
	awaitStopped(t, r, ref)
	if r.Panics() != 1 || r.Restarts() != 0 {
		t.Errorf("%d panics, %d restarts", r.Panics(), r.Restarts())
	}
}

func TestStopDuringBackoff(t *testing.T) {
	r := New(Options{Throughput: 1, Logger: slog.New(slog.DiscardHandler),
		Supervision: Supervision{Strategy: Restart, MaxRestarts: 3, Window: time.Minute, Backoff: time.Hour}})
	defer r.Close()
	ref := spawn(r, 0, false, func(_ *Ref, message any) {
		if message == "panic" {
			panic("panic")
		}
	})
	ref.Send("panic")
	ref.Stop()
	awaitStopped(t, r, ref)
}
