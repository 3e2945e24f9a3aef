package daemon

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

// TestStartupGC checks that a small heap is not collected before the daemon has settled, and that
// GOGC remains low until a daemon with a large heap has started.
func TestStartupGC(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	off := percent()
	begin := func() startupGC {
		debug.SetGCPercent(-1)
		gc := startupGC{started: make(chan struct{}), settled: make(chan struct{}), ended: make(chan struct{})}
		go gc.run()
		return gc
	}
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		check := func(when string, want uint64) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			if got := percent(); got != want {
				t.Errorf("%s: GOGC %d, want %d", when, got, want)
			}
		}
		small := begin()
		check("small heap", off)
		close(small.started)
		check("small heap, started", off)
		close(small.settled)
		check("small heap, settled", gcPercent)

		heap := make([]byte, earlyGCHeap+1)
		large := begin()
		check("large heap", earlyGCPercent)
		close(large.started)
		check("large heap, started", gcPercent)
		runtime.KeepAlive(heap)
	})
}
