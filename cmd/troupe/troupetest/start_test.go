package troupetest_test

import (
	"fmt"
	"slices"
	"strings"
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
	benchmarkStart(b, func(t testing.TB) { troupetest.Start(t) })
}

// BenchmarkFork forks a server with 1,000 objects, like BenchmarkStart.
func BenchmarkFork(b *testing.B) {
	base := troupetest.Start(b)
	for n := range 1000 {
		mustDo(b, base, 201, "POST", "/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"m%d"},"data":{"text":%q}}`, n, strings.Repeat("x", 1024)))
	}
	benchmarkStart(b, func(t testing.TB) { troupetest.Fork(t, base) })
}

func benchmarkStart(b *testing.B, start func(testing.TB)) {
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		s := &scope{TB: b}
		began := time.Now()
		start(s)
		took = append(took, time.Since(began))
		b.StopTimer()
		s.end()
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[0].Microseconds())/1000, "fastest-ms")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
}
