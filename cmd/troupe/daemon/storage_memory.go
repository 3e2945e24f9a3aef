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

// gcPercent is GOGC where the environment sets none. Most of what a write allocates is garbage at
// once, while the live heap is expensive to scan, so collecting less often pays. During the start it
// is the other way round: little of what a long journal is read into stays. From earlyGCHeap bytes
// on, garbage is then collected early, so that a start needs hardly more memory than what is left.
const (
	gcPercent      = 200
	earlyGCPercent = 25
	earlyGCHeap    = 64 << 20
)

// goMemLimitShare is the part of the memory limit that the Go runtime gets as its own limit. The rest
// is for the kernel's buffers and for what is allocated while garbage is being collected.
const goMemLimitShare = 0.9

// TuneMemory sets GOGC and GOMEMLIMIT of the whole process, unless the environment does: the limit is that
// of its control group, so that it collects garbage more often instead of being killed. It is called before
// Start, and the function that it returns after Start. It is not part of Start, because these are settings
// of the process: tests and other programs run several daemons in one.
func (d *Daemon) TuneMemory() (started func()) {
	started = func() {}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		// The second channel makes the caller wait, so that GOGC is the lasting one once started has returned.
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			collectEarly(stop)
		}()
		started = func() {
			close(stop)
			<-stopped
		}
	}
	if text := os.Getenv("GOMEMLIMIT"); text != "" {
		d.log.Info("memory is limited by the environment", "GOMEMLIMIT", text)
		return started
	}
	limit, ok := findCgroupLimit("/")
	if !ok {
		d.log.Debug("memory is not limited")
		return started
	}
	// A goal and no bound: the runtime collects more often near it, but never refuses memory.
	goal := int64(float64(limit.bytes) * goMemLimitShare)
	debug.SetMemoryLimit(goal)
	d.log.Info("memory is limited by a control group", "limit", limit.bytes, "file", limit.file, "goal", goal)
	return started
}

// collectEarly lowers GOGC once the heap has earlyGCHeap bytes, until it is told to stop. It looks often,
// since a start allocates fast.
func collectEarly(stop <-chan struct{}) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-stop:
			return
		case <-look.C:
		}
		if metrics.Read(sample); sample[0].Value.Uint64() > earlyGCHeap {
			debug.SetGCPercent(earlyGCPercent)
			<-stop
			debug.SetGCPercent(gcPercent)
			return
		}
	}
}

// Parts of the memory limit. Above shrinkHistoryAbove the history of watches shrinks, below
// growHistoryBelow it grows again; above rejectAbove requests are refused, below acceptBelow they are
// accepted again. Requests reserve memory only up to maxUseShare.
const (
	shrinkHistoryAbove, growHistoryBelow = 0.65, 0.5
	rejectAbove, acceptBelow             = 0.8, 0.75
	maxUseShare                          = 0.95
	// historyShare is the part of the limit that the history of watches may have at most. It shrinks
	// to no less than one maxHistoryDivisor-th of its full size.
	historyShare      = 0.25
	maxHistoryDivisor = 16
)

// memoryMonitor measures how much memory the process uses. It lets the history of watches shrink when that
// is much, and tells the HTTP server when requests must be refused. run and poll belong to one goroutine;
// what others read is atomic.
type memoryMonitor struct {
	limit           int64 // of the Go runtime
	setHistoryBytes func(bytes int64)
	releaseMemory   func()
	onScarce        func(scarce bool, used int64)

	used     atomic.Int64 // at the last poll
	headroom atomic.Int64
	scarce   atomic.Bool

	cycles               uint64    // of the garbage collector
	lastForcedGC         time.Time // when this monitor last ran it
	history, fullHistory int64     // bytes that the history may have now, and at most
	samples              []metrics.Sample
}

// baseMemory is what an empty daemon needs.
const baseMemory = 32 << 20

// memoryLimit is the limit of the Go runtime; false if it has none.
func memoryLimit() (limit int64, ok bool) {
	limit = debug.SetMemoryLimit(-1)
	return limit, limit < math.MaxInt64/2
}

// fitTuning lowers the bounds of a store to what the memory limit allows. Without a limit the settings
// count as they are.
func fitTuning(t *actors.Tuning) {
	if limit, ok := memoryLimit(); ok {
		t.HistoryBytes = max(1, min(t.HistoryBytes, int64(float64(limit)*historyShare)))
		t.MemoryBytes = max(1, int64(float64(limit)*shrinkHistoryAbove)-baseMemory)
	}
}

// newMemoryMonitor makes the monitor for a history of a size; nil if the process has no limit.
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

// pollInterval is so short that little is allocated between two polls.
const pollInterval = 50 * time.Millisecond

// run polls until the context ends.
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

// poll measures the use of memory, and acts on it. Garbage is not counted, since it goes when memory is
// needed. Half of the headroom is offered to requests, because what they reserve is an estimate.
func (m *memoryMonitor) poll(now time.Time) {
	metrics.Read(m.samples)
	figure := func(i int) int64 { return int64(m.samples[i].Value.Uint64()) }
	live, objects := figure(1), figure(2)
	beside := figure(6) - objects - figure(3) - figure(4) - figure(5) // stacks and what the runtime needs
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
	// Without a cycle in between, what shrinking has freed is not visible yet, and the history would shrink too far.
	if cycles := m.samples[0].Value.Uint64(); cycles != m.cycles {
		m.cycles = cycles
		m.adaptHistory(share)
	}
}

// gcDue tells whether garbage must be collected to know how much is really in use: when much was
// allocated since the last time, and every second while requests are refused.
func (m *memoryMonitor) gcDue(allocated, present int64, now time.Time) bool {
	return allocated > m.limit/10 && float64(present) > shrinkHistoryAbove*float64(m.limit) ||
		m.scarce.Load() && now.Sub(m.lastForcedGC) > time.Second
}

// adaptHistory lets the history shrink while much memory is in use, and grow again when it is not. It is
// called once for each cycle of the collector, as only that shows what shrinking has freed.
func (m *memoryMonitor) adaptHistory(share float64) {
	next := m.history
	switch {
	// By halves, so that a few cycles suffice; caches go first, as they are filled again by themselves.
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

// UnderPressure implements http.MemoryMonitor.
func (m *memoryMonitor) UnderPressure() bool { return m.scarce.Load() }

// Available implements http.MemoryMonitor. Requests reserve memory against it before they allocate.
func (m *memoryMonitor) Available() int64 { return m.headroom.Load() }

// memoryGauge is what the HTTP server asks; nil if the process has no limit.
func (s *storage) memoryGauge() http.MemoryMonitor {
	if s.memory == nil {
		return nil
	}
	return s.memory
}

// logMemory tells of each change of state. The two thresholds lie apart, so a use near one of them does not fill the log.
func (s *storage) logMemory(scarce bool, used int64) {
	if scarce {
		s.log.Warn("memory is scarce: writes, lists and watches are refused until there is more", "used", used)
	} else {
		s.log.Info("memory is no longer scarce", "used", used)
	}
}
