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
type janitor struct {
	last    uint64 // bytes that had been allocated since the start, at the last look,
	cleaned uint64 // and when memory was given back
}

const (
	lookPeriod = 500 * time.Millisecond
	// restful is how many bytes are allocated at most between two looks at rest.
	restful = 1 << 20
	// A cleaning marks all that is alive, and so waits for allocations of at least a
	// cleaningShare of that, and of leastCleaning bytes.
	leastCleaning = 16 << 20
	cleaningShare = 4
)

// due tells whether it is time, by the bytes that have been allocated since the start of the
// process and those that were alive when garbage was last collected.
func (j *janitor) due(allocated, alive uint64) bool {
	calm := allocated-j.last < restful
	j.last = allocated
	started := j.cleaned == 0 // the first rest is the end of the start
	if !calm || !started && allocated-j.cleaned < max(leastCleaning, alive/cleaningShare) {
		return false
	}
	j.cleaned = allocated
	return true
}

// run cleans up after the start, and then looks and cleans until the context ends.
func (j *janitor) run(ctx context.Context) {
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	look := time.NewTicker(lookPeriod)
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
