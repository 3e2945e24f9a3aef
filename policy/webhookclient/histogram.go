package webhookclient

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// A Histogram counts how long calls took, or other values. Only one goroutine at a time may use it.
type Histogram struct {
	buckets []float64 // upper bounds, in seconds
	counts  []uint64  // by bucket; the last is for all that is longer
	sum     float64
}

// NewHistogram makes a Histogram whose buckets have upper bounds, in seconds.
func NewHistogram(buckets []float64) *Histogram {
	return &Histogram{buckets: buckets, counts: make([]uint64, len(buckets)+1)}
}

// Add counts one call.
func (h *Histogram) Add(took time.Duration) { h.Observe(took.Seconds()) }

// Observe counts a value in the unit of the buckets.
func (h *Histogram) Observe(value float64) {
	i, _ := slices.BinarySearch(h.buckets, value)
	h.counts[i]++
	h.sum += value
}

// Count is how many values there were.
func (h *Histogram) Count() (total uint64) {
	for _, count := range h.counts {
		total += count
	}
	return total
}

// Clone is a copy.
func (h *Histogram) Clone() *Histogram {
	return &Histogram{buckets: h.buckets, counts: slices.Clone(h.counts), sum: h.sum}
}

// Write writes the series of a name and labels in the text exposition format.
func (h *Histogram) Write(w io.Writer, name, labels string) {
	total := uint64(0)
	for i, count := range h.counts {
		total += count
		bound := "+Inf"
		if i < len(h.buckets) {
			bound = strconv.FormatFloat(h.buckets[i], 'g', -1, 64)
		}
		metrics.WriteCounterUint64(w, fmt.Sprintf("%s_bucket{%s,le=%q}", name, labels, bound), total)
	}
	metrics.WriteGaugeFloat64(w, name+"_sum{"+labels+"}", h.sum)
	metrics.WriteCounterUint64(w, name+"_count{"+labels+"}", total)
}
