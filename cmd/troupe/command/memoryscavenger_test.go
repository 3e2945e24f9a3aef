package command

import "testing"

func TestMemoryScavenger(t *testing.T) {
	const mib = 1 << 20
	s := &memoryScavenger{}
	for i, poll := range []struct {
		allocated, alive uint64
		due              bool
	}{
		{allocated: 10 * mib, alive: mib},            // startup
		{allocated: 10 * mib, alive: mib, due: true}, // startup is over
		{allocated: 20 * mib, alive: mib},
		{allocated: 20 * mib, alive: mib},          // idle, but too little allocated
		{allocated: 80 * mib, alive: 40 * mib},     // busy
		{allocated: 80*mib + mib, alive: 40 * mib}, // still busy
		{allocated: 81*mib + 1, alive: 40 * mib, due: true},
		{allocated: 81*mib + 2, alive: 40 * mib}, // only once
		{allocated: 120 * mib, alive: 800 * mib}, // busy
		{allocated: 120 * mib, alive: 800 * mib}, // too little for that heap
		{allocated: 300 * mib, alive: 800 * mib}, // busy
		{allocated: 300 * mib, alive: 800 * mib, due: true},
	} {
		if due := s.due(poll.allocated, poll.alive); due != poll.due {
			t.Errorf("poll %d: %t", i, due)
		}
	}
}

func TestGCPercent(t *testing.T) {
	const mib = 1 << 20
	for alive, want := range map[uint64]int{0: 200, 40 * mib: 200, 64 * mib: 200, 128 * mib: 150, 1024 * mib: 40, 1 << 40: 25} {
		if got := gcPercent(alive); got != want {
			t.Errorf("%d MiB: %d, want %d", alive/mib, got, want)
		}
	}
}
