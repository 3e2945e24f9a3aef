package daemon

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/http"
)

// gcPercent is the daemon's default GOGC. It is high, because most of a write's allocations are
// short-lived and scanning the live heap is expensive. During startup, garbage collection is off
// until the heap exceeds earlyGCHeap bytes. Then earlyGCPercent applies until the daemon has
// started, because the replay of a long journal leaves mostly garbage.
const (
	gcPercent      = 200
	earlyGCPercent = 25
	earlyGCHeap    = 64 << 20
)

// goMemLimitShare is GOMEMLIMIT as a share of the memory limit. The remainder is for kernel buffers
// and allocations during a garbage collection.
const goMemLimitShare = 0.9

// TuneMemory sets GOGC and GOMEMLIMIT for the whole process, unless the environment does.
// GOMEMLIMIT derives from the control group's limit. Call TuneMemory before Start, started after
// Start, and settled half a second later, so that the first requests do not compete with a garbage
// collection.
func (d *Daemon) TuneMemory() (started, settled func()) {
	started, settled = func() {}, func() {}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(-1)
		gc := startupGC{started: make(chan struct{}), settled: make(chan struct{}), ended: make(chan struct{})}
		go gc.run()
		started = func() { close(gc.started) }
		settled = func() { close(gc.settled); <-gc.ended }
	}
	if text := os.Getenv("GOMEMLIMIT"); text != "" {
		d.log.Info("memory limit set by GOMEMLIMIT", "GOMEMLIMIT", text)
		return started, settled
	}
	limit, ok := findCgroupLimit("/")
	if !ok {
		d.log.Debug("no memory limit")
		return started, settled
	}
	// GOMEMLIMIT is a soft limit: near it, the runtime collects garbage more often, but allocations
	// never fail.
	goal := int64(float64(limit.bytes) * goMemLimitShare)
	debug.SetMemoryLimit(goal)
	d.log.Info("memory limit set by a control group", "limit", limit.bytes, "file", limit.file, "goal", goal)
	return started, settled
}

// A startupGC keeps garbage collection off until the daemon has settled or the heap exceeds
// earlyGCHeap bytes.
type startupGC struct{ started, settled, ended chan struct{} }

// run sets GOGC to gcPercent before it returns. It polls often, because the heap grows fast at
// startup.
func (gc startupGC) run() {
	defer close(gc.ended)
	defer debug.SetGCPercent(gcPercent)
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for started := gc.started; ; {
		select {
		case <-gc.settled:
			return
		case <-started:
			started = nil
		case <-look.C:
		}
		if metrics.Read(sample); sample[0].Value.Uint64() <= earlyGCHeap {
			continue
		}
		if started != nil {
			debug.SetGCPercent(earlyGCPercent)
			<-started
		}
		return
	}
}

// Thresholds, as fractions of the memory limit. The watch history shrinks above shrinkHistoryAbove
// and grows below growHistoryBelow. Requests are rejected above rejectAbove until usage is below
// acceptBelow. Requests may reserve memory up to maxUseShare.
const (
	shrinkHistoryAbove, growHistoryBelow = 0.65, 0.5
	rejectAbove, acceptBelow             = 0.8, 0.75
	maxUseShare                          = 0.95
	// historyShare is the watch history's maximum share of the memory limit. The history never
	// shrinks below 1/maxHistoryDivisor of its full size.
	historyShare      = 0.25
	maxHistoryDivisor = 16
)

// memoryMonitor measures memory usage. It shrinks the watch history when usage is high, and makes
// the HTTP server reject requests when memory is scarce. One goroutine calls run and poll. Fields
// that other goroutines read are atomic.
type memoryMonitor struct {
	limit           int64 // the Go runtime's limit
	setHistoryBytes func(bytes int64)
	releaseMemory   func()
	onScarce        func(scarce bool, used int64)

	used     atomic.Int64 // at the last poll
	headroom atomic.Int64
	scarce   atomic.Bool

	cycles               uint64    // garbage collection cycles
	lastForcedGC         time.Time // when this monitor last forced a collection
	history, fullHistory int64     // current and maximum bytes of the history
	samples              []metrics.Sample
}

// baseMemory is the memory of an empty daemon in bytes.
const baseMemory = 32 << 20

func memoryLimit() (limit int64, ok bool) {
	limit = debug.SetMemoryLimit(-1)
	return limit, limit < math.MaxInt64/2
}

func fitTuning(t *actors.Tuning) {
	if limit, ok := memoryLimit(); ok {
		t.HistoryBytes = max(1, min(t.HistoryBytes, int64(float64(limit)*historyShare)))
		t.MemoryBytes = max(1, int64(float64(limit)*shrinkHistoryAbove)-baseMemory)
	}
}

// newMemoryMonitor returns a monitor, or nil without a memory limit. history is the full size of
// the watch history in bytes.
func (s *storage) newMemoryMonitor(history int64) *memoryMonitor {
	limit, ok := memoryLimit()
	if !ok {
		return nil
	}
	m := &memoryMonitor{
		limit: limit, setHistoryBytes: s.store.SetHistoryLimit, releaseMemory: s.store.DropCaches, onScarce: s.logMemory,
		fullHistory: history, history: history,
	}
	for _, name := range []string{
		"/gc/cycles/total:gc-cycles", "/gc/heap/live:bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/released:bytes", "/memory/classes/total:bytes",
	} {
		m.samples = append(m.samples, metrics.Sample{Name: name})
	}
	m.poll(time.Now())
	return m
}

// pollInterval is short, so that little memory is allocated between polls.
const pollInterval = 50 * time.Millisecond

func (m *memoryMonitor) run(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			m.poll(now)
		}
	}
}

// poll measures memory usage, excluding garbage, and reacts to it. It offers only half of the
// headroom to requests, because their reservations are estimates.
func (m *memoryMonitor) poll(now time.Time) {
	metrics.Read(m.samples)
	figure := func(i int) int64 { return int64(m.samples[i].Value.Uint64()) }
	live, objects := figure(1), figure(2)
	beside := figure(6) - objects - figure(3) - figure(4) - figure(5) // stacks and runtime overhead
	if m.gcDue(objects-live, objects+beside, now) {
		m.lastForcedGC = now
		runtime.GC()
		metrics.Read(m.samples)
		live = figure(1)
	}
	used := live + beside
	m.used.Store(used)
	m.headroom.Store(max(0, int64(float64(m.limit)*maxUseShare)-used) / 2)
	share := float64(used) / float64(m.limit)
	if now := m.scarce.Load(); !now && share > rejectAbove || now && share < acceptBelow {
		m.scarce.Store(!now)
		m.onScarce(!now, used)
	}
	// Adapt the history only after a garbage collection. Until then, memory released by an earlier
	// shrink still counts as used, and the history would shrink too much.
	if cycles := m.samples[0].Value.Uint64(); cycles != m.cycles {
		m.cycles = cycles
		m.adaptHistory(share)
	}
}

// gcDue reports whether a garbage collection is needed to measure live memory: after many
// allocations while usage is high, and every second while requests are rejected.
func (m *memoryMonitor) gcDue(allocated, present int64, now time.Time) bool {
	return allocated > m.limit/10 && float64(present) > shrinkHistoryAbove*float64(m.limit) ||
		m.scarce.Load() && now.Sub(m.lastForcedGC) > time.Second
}

// adaptHistory shrinks the history while memory usage is high, and grows it while usage is low. It
// is called once per garbage collection.
func (m *memoryMonitor) adaptHistory(share float64) {
	next := m.history
	switch {
	// Halve the history, so that usage falls within a few garbage collections.
	case share > shrinkHistoryAbove:
		next = max(m.history/2, m.fullHistory/maxHistoryDivisor)
		m.releaseMemory()
	case share < growHistoryBelow:
		next = min(m.history*2, m.fullHistory)
	}
	if next != m.history {
		m.history = next
		m.setHistoryBytes(next)
	}
}

func (m *memoryMonitor) UnderPressure() bool { return m.scarce.Load() }

// Available returns the bytes that requests may reserve before they allocate.
func (m *memoryMonitor) Available() int64 { return m.headroom.Load() }

// memoryGauge returns s.memory, or a nil interface without a monitor, instead of an interface with
// a nil value.
func (s *storage) memoryGauge() http.MemoryMonitor {
	if s.memory == nil {
		return nil
	}
	return s.memory
}

// logMemory logs when memory becomes scarce or sufficient. The gap between the thresholds prevents
// repeated messages.
func (s *storage) logMemory(scarce bool, used int64) {
	if scarce {
		s.log.Warn("memory is scarce: rejecting writes, lists and watches", "used", used)
	} else {
		s.log.Info("memory is no longer scarce", "used", used)
	}
}
