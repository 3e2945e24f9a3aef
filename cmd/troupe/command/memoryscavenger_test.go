package command

import "testing"

// TestMemoryScavenger: memory is returned while the process is idle, and only if enough was allocated.
func TestMemoryScavenger(t *testing.T) {
	const mib = 1 << 20
	s := &memoryScavenger{}
	for i, poll := range []struct {
		allocated, alive uint64
		due              bool
	}{
		{allocated: 10 * mib, alive: mib},            // the start
		{allocated: 10 * mib, alive: mib, due: true}, // is over
		{allocated: 20 * mib, alive: mib},
		{allocated: 20 * mib, alive: mib},          // idle, but too little was allocated
		{allocated: 80 * mib, alive: 40 * mib},     // busy
		{allocated: 80*mib + mib, alive: 40 * mib}, // still
		{allocated: 81*mib + 1, alive: 40 * mib, due: true},
		{allocated: 81*mib + 2, alive: 40 * mib}, // once is enough
		{allocated: 120 * mib, alive: 800 * mib}, // busy
		{allocated: 120 * mib, alive: 800 * mib}, // too little for that much
		{allocated: 300 * mib, alive: 800 * mib}, // busy
		{allocated: 300 * mib, alive: 800 * mib, due: true},
	} {
		if due := s.due(poll.allocated, poll.alive); due != poll.due {
			t.Errorf("poll %d: %t", i, due)
		}
	}
}

// TestGCPercent: garbage is bounded by what is alive, the tighter the more that is.
func TestGCPercent(t *testing.T) {
	const mib = 1 << 20
	for alive, want := range map[uint64]int{0: 200, 40 * mib: 200, 64 * mib: 200, 128 * mib: 150, 1024 * mib: 40, 1 << 40: 25} {
		if got := gcPercent(alive); got != want {
			t.Errorf("%d MiB: %d, want %d", alive/mib, got, want)
		}
	}
}
