package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
)

func TestExposition(t *testing.T) {
	counters := metrics.NewCounters("c_total", "Counted.", "a", "b").Bound(2, "a")
	counters.With("2", "x").Inc()
	counters.With(`1"`, "x").Add(2)
	counters.With("3", "x").Inc()
	counters.With("4", "x").Inc()
	counters.With("2", "x").Inc()
	gauges := metrics.NewGauges("g", "Set.", "a")
	gauges.With("kept").Set(0.5)
	gauges.With("gone").Set(1)
	gauges.Delete(func(values []string) bool { return values[0] == "gone" })
	histograms := metrics.NewHistograms("h_seconds", "Observed.", metrics.ExponentialBuckets(0.1, 10, 2), "a")
	h := histograms.With("x")
	h.ObserveDuration(100 * time.Millisecond)
	h.Observe(0.5)
	h.Observe(2)
	if n := h.Count(); n != 3 {
		t.Errorf("%d observations", n)
	}
	label := func(s string) string { return `s="` + s + `"` }
	var text strings.Builder
	metrics.Write(&text, counters, gauges, histograms,
		metrics.GaugeValue("up", "Whether.", true),
		metrics.CounterValue("n_total", "Each.", metrics.Each([]string{"b", "a"}, label, func(s string) any { return len(s) })))
	const want = `# HELP c_total Counted.
# TYPE c_total counter
c_total{a="",b="x"} 2
c_total{a="1\"",b="x"} 2
c_total{a="2",b="x"} 2
# HELP g Set.
# TYPE g gauge
g{a="kept"} 0.5
# HELP h_seconds Observed.
# TYPE h_seconds histogram
h_seconds_bucket{a="x",le="0.1"} 1
h_seconds_bucket{a="x",le="1"} 2
h_seconds_bucket{a="x",le="+Inf"} 3
h_seconds_sum{a="x"} 2.6
h_seconds_count{a="x"} 3
# HELP up Whether.
# TYPE up gauge
up 1
# HELP n_total Each.
# TYPE n_total counter
n_total{s="a"} 1
n_total{s="b"} 1
`
	if text.String() != want {
		t.Errorf("got\n%s", &text)
	}
}

func TestWithAllocates(t *testing.T) {
	counters := metrics.NewCounters("c_total", "Counted.", "a", "b")
	counters.With("1", "2")
	if n := testing.AllocsPerRun(100, func() { counters.With("1", "2").Inc() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
