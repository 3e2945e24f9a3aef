package main

import "testing"

// TestMemoryScavenger: memory is given back at rest only, and only for what is worth the work.
func TestMemoryScavenger(t *testing.T) {
	const mib = 1 << 20
	j := &memoryScavenger{}
	for i, look := range []struct {
		allocated, alive uint64
		due              bool
	}{
		{allocated: 10 * mib, alive: mib},            // the start
		{allocated: 10 * mib, alive: mib, due: true}, // is over
		{allocated: 20 * mib, alive: mib},
		{allocated: 20 * mib, alive: mib},          // at rest, but with too little
		{allocated: 80 * mib, alive: 40 * mib},     // busy
		{allocated: 80*mib + mib, alive: 40 * mib}, // still
		{allocated: 81*mib + 1, alive: 40 * mib, due: true},
		{allocated: 81*mib + 2, alive: 40 * mib}, // once is enough
		{allocated: 120 * mib, alive: 800 * mib}, // busy
		{allocated: 120 * mib, alive: 800 * mib}, // too little for that much
		{allocated: 300 * mib, alive: 800 * mib}, // busy
		{allocated: 300 * mib, alive: 800 * mib, due: true},
	} {
		if due := j.due(look.allocated, look.alive); due != look.due {
			t.Errorf("look %d: %t", i, due)
		}
	}
}
