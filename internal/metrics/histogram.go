package metrics

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// A Histogram counts values in buckets. It is safe for concurrent use.
type Histogram struct {
	bounds []float64
	counts []Counter // by bucket; the last counts values beyond the bounds
	sum    Gauge
}

// NewHistogram returns an empty Histogram with the given upper bounds. Bounds of durations are in
// seconds.
func NewHistogram(bounds []float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]Counter, len(bounds)+1)}
}

// Observe counts a value.
func (h *Histogram) Observe(value float64) {
	i, _ := slices.BinarySearch(h.bounds, value)
	h.counts[i].Inc()
	h.sum.Add(value)
}

// ObserveDuration counts a duration, in seconds.
func (h *Histogram) ObserveDuration(d time.Duration) { h.Observe(d.Seconds()) }

// Count returns the number of observed values.
func (h *Histogram) Count() (total uint64) {
	for i := range h.counts {
		total += h.counts[i].Get()
	}
	return total
}

func (h *Histogram) write(w io.Writer, name, labels string) {
	total := uint64(0)
	for i := range h.counts {
		total += h.counts[i].Get()
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		fmt.Fprintf(w, "%s_bucket{%s,le=%q} %d\n", name, labels, bound, total)
	}
	fmt.Fprintf(w, "%s_sum{%s} %g\n%[1]s_count{%[2]s} %[4]d\n", name, labels, h.sum.Get(), total)
}

// ExponentialBuckets returns n upper bounds. Each is factor times the previous one.
func ExponentialBuckets(first, factor float64, n int) []float64 {
	bounds := make([]float64, n)
	for i := range bounds {
		bounds[i], first = first, first*factor
	}
	return bounds
}
