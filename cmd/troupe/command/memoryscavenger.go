package command

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A memoryScavenger returns memory to the system while the process is idle, and bounds the garbage while it is not. Go collects garbage when
// the heap has grown by a factor; a process that does little takes very long to get there, and would
// keep what a start, many handshakes at once or a large list once needed. So would the pages of the
// program that only those needed.
type memoryScavenger struct {
	lastAllocated       uint64 // bytes allocated since the start of the process, at the last poll
	allocatedAtScavenge uint64 // the same when memory was last returned
	percent             int    // GOGC as it was set last; 0: not yet
}

const (
	pollInterval = 500 * time.Millisecond
	// idleAllocation is how many bytes an idle process allocates at most between two polls.
	idleAllocation = 1 << 20
	// Returning memory marks the whole heap, which costs the more the larger the heap is. So it waits
	// until as much was allocated as a 1/scavengeShare of the live heap, and minScavengeBytes at least.
	minScavengeBytes = 16 << 20
	scavengeShare    = 4
)

// due tells whether it is time to return memory, by the bytes that have been allocated since the start
// of the process and the size of the live heap when garbage was last collected.
//
// It only sees differences of two counters that never fall, so it needs no clock, and a test can drive it. With a
// live heap of 400 MiB memory is returned after each 100 MiB that were allocated, once less than 1 MiB comes in half
// a second.
func (s *memoryScavenger) due(allocated, alive uint64) bool {
	idle := allocated-s.lastAllocated < idleAllocation
	s.lastAllocated = allocated
	started := s.allocatedAtScavenge == 0 // the first time that the process is idle, its start is over
	if !idle || !started && allocated-s.allocatedAtScavenge < max(minScavengeBytes, alive/scavengeShare) {
		return false
	}
	s.allocatedAtScavenge = allocated
	return true
}

// Garbage may take as much as smallGarbageShare times what is alive, and no more than a 1/largeGarbageShare of that beyond
// smallGarbageBytes. A small heap is collected rarely so, which spares CPU where it costs little memory; a large one does not
// grow to three times its size.
//
// So 40 MiB may grow to 120, 300 MiB to 535 and 2 GiB to 2.7.
const (
	smallGarbageShare = 2 // GOGC=200, as the daemon starts with
	largeGarbageShare = 4
	smallGarbageBytes = 160 << 20
)

// gcPercent is GOGC for a live heap.
func gcPercent(alive uint64) int {
	alive = max(alive, 1)
	garbage := min(smallGarbageShare*alive, smallGarbageBytes+alive/largeGarbageShare)
	return int(100 * garbage / alive)
}

// pace sets GOGC for a live heap, unless it is nearly that already: each change stops the process for some microseconds.
func (s *memoryScavenger) pace(alive uint64) {
	const step = 10
	percent := gcPercent(alive)
	if change := percent - s.percent; change > -step && change < step {
		return
	}
	s.percent = percent
	debug.SetGCPercent(percent)
}

// run returns memory once, after the start, and then whenever it is due until the context ends.
//
// Reading the two samples costs microseconds and stops nothing; only FreeOSMemory collects garbage, and that waits
// until the process is idle.
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
