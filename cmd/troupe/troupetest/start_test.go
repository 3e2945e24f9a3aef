package troupetest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
)

// A scope is a testing.TB with an end method that runs the cleanups.
type scope struct {
	testing.TB
	cleanups []func()
}

func (s *scope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *scope) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

// BenchmarkStart starts servers sequentially. It also reports the median and the minimum, which is
// the most accurate value on a busy machine. Stopping is not timed.
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
