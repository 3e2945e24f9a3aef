package daemon

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestStartupGC checks that GOGC is low while a large heap starts, and gcPercent after the start.
func TestStartupGC(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	begin := func() startupGC {
		debug.SetGCPercent(-1)
		gc := startupGC{started: make(chan struct{}), settled: make(chan struct{}), ended: make(chan struct{})}
		go gc.run()
		return gc
	}

	small := begin()
	close(small.started)
	close(small.settled)
	<-small.ended
	if got := percent(); got != gcPercent {
		t.Errorf("after the start of a small heap: GOGC %d", got)
	}

	heap := make([]byte, earlyGCHeap+1)
	large := begin()
	for percent() != earlyGCPercent {
		runtime.Gosched()
	}
	close(large.started)
	<-large.ended
	if got := percent(); got != gcPercent {
		t.Errorf("after the start of a large heap: GOGC %d", got)
	}
	runtime.KeepAlive(heap)
}
