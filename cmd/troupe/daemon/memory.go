package daemon

import (
	"context"
	"fmt"
	"io"
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

// gcPercent is GOGC of a daemon that is told nothing else. Most of what a write allocates
// dies at once, and what stays alive is cheap to keep and dear to scan. While it starts, little of
// a long journal stays: from startHeap bytes on, garbage is then collected early, so that a start
// needs hardly more than what is left of it.
const (
	gcPercent      = 200
	gcPercentStart = 25
	startHeap      = 64 << 20
)

// limitShare is how much of the memory that the process may have at most its heap is kept
// below: the rest is for stacks, the kernel's buffers and the moment it takes to collect.
const limitShare = 0.9

// TuneMemory sets what the environment leaves open, of the whole process: GOGC, and GOMEMLIMIT where
// a control group limits it, so that it collects more often instead of being killed. It is
// called before Start, and what it returns after that.
func (d *Daemon) TuneMemory() (started func()) {
	started = func() {}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			saveMemory(stop)
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
	limit, ok := controlGroups("/")
	if !ok {
		d.log.Info("memory is not limited")
		return started
	}
	goal := int64(float64(limit.bytes) * limitShare)
	debug.SetMemoryLimit(goal)
	d.log.Info("memory is limited by a control group", "limit", limit.bytes, "file", limit.file, "goal", goal)
	return started
}

// saveMemory has garbage collected early once there is much, until it is told to stop.
func saveMemory(stop <-chan struct{}) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-stop:
			return
		case <-look.C:
		}
		if metrics.Read(sample); sample[0].Value.Uint64() > startHeap {
			debug.SetGCPercent(gcPercentStart)
			<-stop
			debug.SetGCPercent(gcPercent)
			return
		}
	}
}

// The shares of the limit that what is in use passes when less is kept (scant), and when requests
// are refused (scarce); below the lower ones it is enough again. The rest is for the work of
// requests: none goes beyond mostUse.
const (
	scant, scantOver   = 0.65, 0.5
	scarce, scarceOver = 0.8, 0.75
	mostUse            = 0.95
	// historyUse is the part of the limit that the history of watches may have at most. When
	// memory is scant it goes down to leastHistory parts of what it has otherwise.
	historyUse   = 0.25
	leastHistory = 16
)

// memory watches how much of its memory the process uses, has less kept where that becomes scant,
// and tells the front when it is scarce.
type memory struct {
	limit   int64 // of the Go runtime
	retain  func(bytes int64)
	relieve func()
	say     func(scarce bool, used int64)

	used   atomic.Int64 // at the last look
	room   atomic.Int64
	scarce atomic.Bool

	cycles         uint64    // of the garbage collector
	collected      time.Time // when it was last asked to run
	history, whole int64     // what the history may have now, and when there is enough
	samples        []metrics.Sample
}

// leastMemory is what an empty daemon needs.
const leastMemory = 32 << 20

// limited is the limit of the Go runtime; false if it has none.
func limited() (limit int64, ok bool) {
	limit = debug.SetMemoryLimit(-1)
	return limit, limit < math.MaxInt64/2
}

// fit makes the bounds of a store fit into what there is.
func fit(t *actors.Tuning) {
	if limit, ok := limited(); ok {
		t.HistoryBytes = max(1, min(t.HistoryBytes, int64(float64(limit)*historyUse)))
		t.MemoryBytes = max(1, int64(float64(limit)*scant)-leastMemory)
	}
}

// newMemory watches over a history of a size; nil if the process has no limit.
func (d *Daemon) newMemory(history int64) *memory {
	limit, ok := limited()
	if !ok {
		return nil
	}
	m := &memory{
		limit: limit, retain: d.store.Retain, relieve: d.store.Relieve, say: d.sayMemory,
		whole: history, history: history,
	}
	for _, name := range []string{
		"/gc/cycles/total:gc-cycles", "/gc/heap/live:bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/released:bytes", "/memory/classes/total:bytes",
	} {
		m.samples = append(m.samples, metrics.Sample{Name: name})
	}
	m.look(time.Now())
	return m
}

// lookPeriod is short enough for little to be allocated meanwhile.
const lookPeriod = 50 * time.Millisecond

func (m *memory) run(ctx context.Context) {
	ticker := time.NewTicker(lookPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			m.look(now)
		}
	}
}

// look measures, and does something about it.
func (m *memory) look(now time.Time) {
	metrics.Read(m.samples)
	figure := func(i int) int64 { return int64(m.samples[i].Value.Uint64()) }
	live, objects := figure(1), figure(2)
	beside := figure(6) - objects - figure(3) - figure(4) - figure(5) // stacks and what the runtime needs
	if m.stale(objects-live, objects+beside, now) {
		m.collected = now
		runtime.GC()
		metrics.Read(m.samples)
		live = figure(1)
	}
	used := live + beside
	m.used.Store(used)
	m.room.Store(max(0, int64(float64(m.limit)*mostUse)-used) / 2)
	share := float64(used) / float64(m.limit)
	if now := m.scarce.Load(); !now && share > scarce || now && share < scarceOver {
		m.scarce.Store(!now)
		m.say(!now, used)
	}
	if cycles := m.samples[0].Value.Uint64(); cycles != m.cycles {
		m.cycles = cycles
		m.adapt(share)
	}
}

// stale tells whether so much was allocated since garbage was last collected that it must be known
// how much of it lives. Where memory is scarce, it is looked after every second.
func (m *memory) stale(allocated, present int64, now time.Time) bool {
	return allocated > m.limit/10 && float64(present) > scant*float64(m.limit) ||
		m.scarce.Load() && now.Sub(m.collected) > time.Second
}

// adapt lets the history shrink while memory is scant, and grow again when it is not.
func (m *memory) adapt(share float64) {
	next := m.history
	switch {
	case share > scant:
		next = max(m.history/2, m.whole/leastHistory)
		m.relieve()
	case share < scantOver:
		next = min(m.history*2, m.whole)
	}
	if next != m.history {
		m.history = next
		m.retain(next)
	}
}

// Scarce implements http.Gauge.
func (m *memory) Scarce() bool { return m.scarce.Load() }

// Room implements http.Gauge.
func (m *memory) Room() int64 { return m.room.Load() }

// gauge is what the front asks; nil if the process has no limit.
func (d *Daemon) gauge() http.Gauge {
	if d.memory == nil {
		return nil
	}
	return d.memory
}

func (d *Daemon) sayMemory(scarce bool, used int64) {
	if scarce {
		d.log.Warn("memory is scarce: writes, lists and watches are refused until there is more", "used", used)
	} else {
		d.log.Info("memory is no longer scarce", "used", used)
	}
}

// writeMetrics writes how much there is; nothing if there is no limit.
func (m *memory) writeMetrics(w io.Writer) {
	if m == nil {
		return
	}
	short := 0
	if m.Scarce() {
		short = 1
	}
	for _, f := range []struct {
		name, help string
		value      int64
	}{
		{"troupe_memory_limit_bytes", "Memory that the process is kept below.", m.limit},
		{"troupe_memory_used_bytes", "Memory that is in use, without garbage.", m.used.Load()},
		{"troupe_memory_scarce", "1 while writes, lists and watches are refused because memory is scarce.", int64(short)},
	} {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s %d\n", f.name, f.help, f.name, f.name, f.value)
	}
}
