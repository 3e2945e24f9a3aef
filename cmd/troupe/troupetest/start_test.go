package troupetest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
)

// A scope is a test within a benchmark: what it cleans up is cleaned up when it ends.
type scope struct {
	testing.TB
	cleanups []func()
}

// Cleanup implements testing.TB.
func (s *scope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *scope) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

// BenchmarkStart starts servers one after the other, as tests do. Beside the mean it tells the median and the fastest, which is nearest to
// the truth on a machine that is busy with other things. Stopping is not counted.
func BenchmarkStart(b *testing.B) {
	var took []time.Duration
	for b.Loop() {
		s := &scope{TB: b}
		began := time.Now()
		troupetest.Start(s)
		took = append(took, time.Since(began))
		b.StopTimer()
		s.end()
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[0].Microseconds())/1000, "fastest-ms")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
}
