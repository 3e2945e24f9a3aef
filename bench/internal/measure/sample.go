package measure

import (
	"math"
	"slices"
	"time"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// Sample is what came of driving a load.
type Sample struct {
	Operations int // that succeeded
	Errors     int
	FirstError string
	Elapsed    time.Duration
	Latencies  []time.Duration // of the operations that succeeded, ascending
	Bytes      int64           // of the bodies of their answers

	Measured bool // whether CPU and Resident are known
	CPU      time.Duration
	Etcd     time.Duration // of CPU, what an etcd behind the server has used
	Resident int64         // bytes, when the load ended
}

// Rate is operations per second.
func (s *Sample) Rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Operations) / s.Elapsed.Seconds()
}

// minCPU is what a load must have cost before its CPU time is believed, which is counted in ticks.
const minCPU = 5 * server.Tick

// CPUPerOperation is in microseconds; NaN if it is not known or too little to tell.
func (s *Sample) CPUPerOperation() float64 {
	if s.CPU < minCPU || !s.Measured || s.Operations == 0 {
		return math.NaN()
	}
	return float64(s.CPU.Nanoseconds()) / 1e3 / float64(s.Operations)
}

// EtcdCPUPerOperation is what of it an etcd has used; NaN if there is none.
func (s *Sample) EtcdCPUPerOperation() float64 {
	if s.Etcd == 0 {
		return math.NaN()
	}
	return s.CPUPerOperation() * float64(s.Etcd) / float64(s.CPU)
}

// BytesPerOperation is the mean size of an operation's answers.
func (s *Sample) BytesPerOperation() int {
	if s.Operations == 0 {
		return 0
	}
	return int(s.Bytes / int64(s.Operations))
}

// Fail counts one error and keeps the text of the first.
func (s *Sample) Fail(err error) {
	if s.Errors == 0 {
		s.FirstError = err.Error()
	}
	s.Errors++
}

// Add merges the counts of one worker.
func (s *Sample) Add(part *Sample) {
	if s.Errors == 0 {
		s.FirstError = part.FirstError
	}
	s.Operations += part.Operations
	s.Errors += part.Errors
	s.Bytes += part.Bytes
	s.Latencies = append(s.Latencies, part.Latencies...)
}

// Percentile is the nearest-rank percentile p (0 < p ≤ 100); 0 if there was no operation.
func (s *Sample) Percentile(p float64) time.Duration {
	n := len(s.Latencies)
	if n == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(n)))
	return s.Latencies[min(max(rank, 1), n)-1]
}

// Meter measures one stretch of time of a target.
type Meter struct {
	target *server.Target
	Begin  time.Time
	before server.Usage
	etcd   time.Duration // CPU time before
	known  bool
}

// StartMeter begins to measure a target. Stop of the Meter ends it.
func StartMeter(target *server.Target) *Meter {
	m := &Meter{target: target}
	if len(target.Processes) > 0 {
		usage, err := server.ReadUsage(target.Processes)
		etcd, etcdErr := server.ReadUsage(target.Etcd)
		m.before, m.etcd, m.known = usage, etcd.CPU, err == nil && etcdErr == nil
	}
	m.Begin = time.Now()
	return m
}

// Stop fills in the time and the usage since the start, and sorts the latencies.
func (m *Meter) Stop(s *Sample) {
	s.Elapsed = time.Since(m.Begin)
	if m.known {
		after, err := server.ReadUsage(m.target.Processes)
		etcd, etcdErr := server.ReadUsage(m.target.Etcd)
		s.Measured = err == nil && etcdErr == nil
		s.CPU, s.Etcd, s.Resident = after.CPU-m.before.CPU, etcd.CPU-m.etcd, after.Resident
	}
	slices.Sort(s.Latencies)
}
