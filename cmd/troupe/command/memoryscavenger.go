package command

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A memoryScavenger returns memory to the operating system while the process is idle, and bounds
// garbage otherwise. The Go runtime collects when the heap has grown by a factor, which takes very
// long in a quiet process. Without the scavenger, it would keep the peak memory of a start or a
// large list.
type memoryScavenger struct {
	lastAllocated       uint64 // bytes allocated by the process until the last poll
	allocatedAtScavenge uint64 // the same when memory was last returned
	percent             int    // the current GOGC; 0 if not set yet
}

const (
	pollInterval = 500 * time.Millisecond
	// idleAllocation is the most that an idle process allocates between two polls, in bytes.
	idleAllocation = 1 << 20
	// Returning memory marks the whole heap, so its cost grows with the heap. It waits until
	// 1/scavengeShare of the live heap was allocated, and at least minScavengeBytes.
	minScavengeBytes = 16 << 20
	scavengeShare    = 4
)

// due reports whether to return memory, given the bytes allocated since the process started and the
// live heap. It needs no clock, so tests can drive it. For example, with a live heap of 400 MiB,
// memory is returned after every 100 MiB of allocations, once less than 1 MiB is allocated in half
// a second.
func (s *memoryScavenger) due(allocated, alive uint64) bool {
	idle := allocated-s.lastAllocated < idleAllocation
	s.lastAllocated = allocated
	started := s.allocatedAtScavenge == 0 // the start is over at the first idle poll
	if !idle || !started && allocated-s.allocatedAtScavenge < max(minScavengeBytes, alive/scavengeShare) {
		return false
	}
	s.allocatedAtScavenge = allocated
	return true
}

// Garbage is bounded by smallGarbageShare times the live heap, and by smallGarbageBytes plus
// 1/largeGarbageShare of it. A small heap is collected rarely, which saves CPU for little memory; a
// large one does not triple. For example, 40 MiB may grow to 120 MiB, 300 MiB to 535 MiB, and 2 GiB
// to 2.7 GiB.
const (
	smallGarbageShare = 2 // GOGC=200, the daemon's initial value
	largeGarbageShare = 4
	smallGarbageBytes = 160 << 20
)

// gcPercent returns GOGC for a live heap in bytes.
func gcPercent(alive uint64) int {
	alive = max(alive, 1)
	garbage := min(smallGarbageShare*alive, smallGarbageBytes+alive/largeGarbageShare)
	return int(100 * garbage / alive)
}

// pace sets GOGC for a live heap. It skips small changes, because each one stops the world for some
// microseconds.
func (s *memoryScavenger) pace(alive uint64) {
	const step = 10
	percent := gcPercent(alive)
	if change := percent - s.percent; change > -step && change < step {
		return
	}
	s.percent = percent
	debug.SetGCPercent(percent)
}

// run returns memory once after the start, and then whenever it is due, until the context ends.
// Only FreeOSMemory forces a collection; reading the samples takes microseconds.
func (s *memoryScavenger) run(ctx context.Context) {
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	given := os.Getenv("GOGC") != ""
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		metrics.Read(sample)
		if s.due(sample[0].Value.Uint64(), sample[1].Value.Uint64()) {
			debug.FreeOSMemory()
			releaseProgram()
		}
		if !given {
			s.pace(sample[1].Value.Uint64())
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
