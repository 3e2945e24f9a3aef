package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sample is the result of a load.
type Sample struct {
	Operations int // successful ones
	Errors     int
	FirstError string
	Elapsed    time.Duration
	Latencies  []time.Duration // of successful operations, ascending
	Bytes      int64           // of their response bodies

	// Usage of the target's processes; 0 if unknown.
	CPU      time.Duration
	Etcd     time.Duration // the part of CPU used by an etcd
	Resident int64         // bytes at the end of the load
}

// Figure is a value with its unit.
type Figure struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

func milliseconds(d time.Duration) *Figure {
	return &Figure{Value: float64(d) / float64(time.Millisecond), Unit: "ms"}
}

func resident(mebibytes float64) *Figure { return &Figure{Value: mebibytes, Unit: "MiB resident"} }

func (s *Sample) rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Operations) / s.Elapsed.Seconds()
}

// minCPU is the smallest meaningful CPU time, because CPU time is measured in ticks.
const minCPU = 5 * tick

// cpuPerOperation returns the CPU time per operation in microseconds, or 0 if it is unknown or
// too small to measure.
func (s *Sample) cpuPerOperation() float64 {
	if s.CPU < minCPU || s.Operations == 0 {
		return 0
	}
	return microseconds(s.CPU) / float64(s.Operations)
}

func (s *Sample) etcdPerOperation() float64 {
	if s.Etcd == 0 {
		return 0
	}
	return s.cpuPerOperation() * float64(s.Etcd) / float64(s.CPU)
}

func (s *Sample) bytesPerOperation() int { return int(s.Bytes) / max(s.Operations, 1) }

func (s *Sample) record(took time.Duration, bytes int) {
	s.Operations++
	s.Bytes += int64(bytes)
	s.Latencies = append(s.Latencies, took)
}

func (s *Sample) fail(err error) {
	s.FirstError = cmp.Or(s.FirstError, err.Error())
	s.Errors++
}

func (s *Sample) add(part *Sample) {
	s.FirstError = cmp.Or(s.FirstError, part.FirstError)
	s.Operations += part.Operations
	s.Errors += part.Errors
	s.Bytes += part.Bytes
	s.Latencies = append(s.Latencies, part.Latencies...)
}

// percentile returns the nearest-rank percentile p (0 < p ≤ 100), or 0 without operations.
func (s *Sample) percentile(p float64) time.Duration {
	n := len(s.Latencies)
	if n == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(n)))
	return s.Latencies[min(max(rank, 1), n)-1]
}

type meter struct {
	target       *Target
	begin        time.Time
	before, etcd usage
	known        bool
}

func startMeter(target *Target) *meter {
	m := &meter{target: target}
	m.before, m.etcd, m.known = m.read()
	m.begin = time.Now()
	return m
}

func (m *meter) read() (all, etcd usage, known bool) {
	all, err := readUsage(m.target.Processes)
	etcd, etcdErr := readUsage(m.target.Etcd)
	return all, etcd, err == nil && etcdErr == nil
}

func (m *meter) stop(s *Sample, parts ...Sample) {
	s.Elapsed = time.Since(m.begin)
	if all, etcd, known := m.read(); known && m.known {
		s.CPU, s.Etcd, s.Resident = all.CPU-m.before.CPU, etcd.CPU-m.etcd.CPU, all.Resident
	}
	for i := range parts {
		s.add(&parts[i])
	}
	slices.Sort(s.Latencies)
}

// breakdown records the latencies of each kind of operation in a load. Errors and CPU time are
// recorded only for the whole load.
type breakdown struct {
	mu      sync.Mutex
	samples map[string]*Sample // by kind; guarded by mu
}

func (b *breakdown) time(kind string, operation func() (int, error)) (int, error) {
	before := time.Now()
	size, err := operation()
	if took := time.Since(before); err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.samples == nil {
			b.samples = map[string]*Sample{}
		}
		if b.samples[kind] == nil {
			b.samples[kind] = &Sample{}
		}
		b.samples[kind].record(took, size)
	}
	return size, err
}

// results returns a row for the load and a row for each kind. It replaces the latencies of the load
// with those of its operations, which exclude pacing delays.
func (b *breakdown) results(load *Sample) []Result {
	load.Latencies = nil
	var kinds []Result
	for kind, sample := range b.samples {
		slices.Sort(sample.Latencies)
		sample.Elapsed = load.Elapsed
		load.Latencies = append(load.Latencies, sample.Latencies...)
		kinds = append(kinds, Result{Name: ", " + kind, Sample: sample})
	}
	slices.Sort(load.Latencies)
	slices.SortFunc(kinds, func(x, y Result) int { return strings.Compare(x.Name, y.Name) })
	return append([]Result{{Sample: load}}, kinds...)
}
