package command

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A memoryScavenger returns memory to the operating system while the process is idle, and limits
// garbage otherwise. The Go runtime collects garbage only after the heap has grown, which takes
// very long in an idle process. The process would thus keep the peak memory of its startup or of a
// large list.
type memoryScavenger struct {
	lastAllocated       uint64 // bytes allocated by the process until the last poll
	allocatedAtScavenge uint64 // lastAllocated when memory was last returned
	percent             int    // the current GOGC; 0 if not set yet
}

const (
	pollInterval = 500 * time.Millisecond
	// A process is idle if it allocates less than idleAllocation bytes between two polls.
	idleAllocation = 1 << 20
	// Returning memory marks the whole heap, so the cost grows with the heap. The scavenger waits
	// until 1/scavengeShare of the live heap, and at least minScavengeBytes, have been allocated.
	minScavengeBytes = 16 << 20
	scavengeShare    = 4
)

// due reports whether to return memory. allocated is the number of bytes allocated since the
// process started, and alive the size of the live heap in bytes. With a live heap of 400 MiB, for
// example, it returns true once 100 MiB have been allocated and the process is idle.
func (s *memoryScavenger) due(allocated, alive uint64) bool {
	idle := allocated-s.lastAllocated < idleAllocation
	s.lastAllocated = allocated
	started := s.allocatedAtScavenge == 0 // startup ends with the first idle poll
	if !idle || !started && allocated-s.allocatedAtScavenge < max(minScavengeBytes, alive/scavengeShare) {
		return false
	}
	s.allocatedAtScavenge = allocated
	return true
}

// Garbage is limited to the lower of two values: smallGarbageShare times the live heap, and
// smallGarbageBytes plus 1/largeGarbageShare of the live heap. A small heap is collected rarely,
// which saves CPU and costs little memory. A large heap is collected earlier, so that it does not
// triple. For example, 40 MiB may grow to 120 MiB, 300 MiB to 535 MiB, and 2 GiB to 2.7 GiB.
const (
	smallGarbageShare = 2 // GOGC=200, the daemon's initial value
	largeGarbageShare = 4
	smallGarbageBytes = 160 << 20
)

func gcPercent(alive uint64) int {
	alive = max(alive, 1)
	garbage := min(smallGarbageShare*alive, smallGarbageBytes+alive/largeGarbageShare)
	return int(100 * garbage / alive)
}

// pace sets GOGC for a live heap. It skips small changes, because each change briefly stops the
// world.
func (s *memoryScavenger) pace(alive uint64) {
	const step = 10
	percent := gcPercent(alive)
	if change := percent - s.percent; change > -step && change < step {
		return
	}
	s.percent = percent
	debug.SetGCPercent(percent)
}

// run returns memory whenever due returns true, until ctx ends. It calls settled after one poll
// interval. Reading the metrics takes only microseconds, but FreeOSMemory forces a garbage
// collection.
func (s *memoryScavenger) run(ctx context.Context, heap *hugeHeap, settled func()) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	s.lastAllocated = sample[0].Value.Uint64()
	given := os.Getenv("GOGC") != ""
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for first := true; ; first = false {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		metrics.Read(sample)
		heap.allow(sample[0].Value.Uint64()-s.lastAllocated >= idleAllocation)
		if s.due(sample[0].Value.Uint64(), sample[1].Value.Uint64()) {
			debug.FreeOSMemory()
			releaseProgram()
		}
		if first {
			settled()
		}
		if !given {
			s.pace(sample[1].Value.Uint64())
		}
	}
}
