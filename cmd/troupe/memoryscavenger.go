package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A janitor gives memory back to the system when the process has come to rest: what a start, a
// storm of handshakes or a large list has needed would otherwise stay with a process that does
// little, for that collects its garbage only once it has made twice as much again.
type memoryScavenger struct {
	lastAllocated       uint64 // bytes that had been allocated since the start, at the last look,
	allocatedAtScavenge uint64 // and when memory was given back
}

const (
	pollInterval = 500 * time.Millisecond
	// idleAllocation is how many bytes are allocated at most between two looks at rest.
	idleAllocation = 1 << 20
	// A cleaning marks all that is alive, and so waits for allocations of at least a
	// scavengeShare of that, and of minScavengeBytes bytes.
	minScavengeBytes = 16 << 20
	scavengeShare    = 4
)

// due tells whether it is time, by the bytes that have been allocated since the start of the
// process and those that were alive when garbage was last collected.
func (j *memoryScavenger) due(allocated, alive uint64) bool {
	calm := allocated-j.lastAllocated < idleAllocation
	j.lastAllocated = allocated
	started := j.allocatedAtScavenge == 0 // the first rest is the end of the start
	if !calm || !started && allocated-j.allocatedAtScavenge < max(minScavengeBytes, alive/scavengeShare) {
		return false
	}
	j.allocatedAtScavenge = allocated
	return true
}

// run cleans up after the start, and then looks and cleans until the context ends.
func (j *memoryScavenger) run(ctx context.Context) {
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	for {
		metrics.Read(sample)
		if j.due(sample[0].Value.Uint64(), sample[1].Value.Uint64()) {
			debug.FreeOSMemory()
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}
