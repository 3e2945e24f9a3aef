package metrics

import (
	"io"
	"strconv"
	"sync/atomic"
	"time"
)

// bucketBounds are the upper ends of the buckets, in seconds.
var bucketBounds = [...]float64{0.001, 0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 8, 15, 30, 60}

// A histogram counts durations in buckets with the label le.
type histogram struct {
	buckets [len(bucketBounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

func (h *histogram) observe(d time.Duration) {
	seconds := d.Seconds()
	i := 0
	for i < len(bucketBounds) && seconds > bucketBounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// write writes the series of name with the given labels, as in `a="x",b="y"`, unless nothing
// was counted.
func (h *histogram) write(w io.Writer, name, labels string) {
	if !h.hasSamples() {
		return
	}
	total := uint64(0)
	for i := range h.buckets {
		total += h.buckets[i].Load()
		le := "+Inf"
		if i < len(bucketBounds) {
			le = strconv.FormatFloat(bucketBounds[i], 'g', -1, 64)
		}
		writeSample(w, name+"_bucket", labels+`,le="`+le+`"`, strconv.FormatUint(total, 10))
	}
	writeSample(w, name+"_sum", labels, strconv.FormatFloat(time.Duration(h.sum.Load()).Seconds(), 'g', -1, 64))
	writeSample(w, name+"_count", labels, strconv.FormatUint(total, 10))
}

// hasSamples tells whether anything was counted.
func (h *histogram) hasSamples() bool {
	for i := range h.buckets {
		if h.buckets[i].Load() > 0 {
			return true
		}
	}
	return false
}

func writeSample(w io.Writer, name, labels, value string) {
	// The writer is a buffer: it does not fail.
	_, _ = io.WriteString(w, formatSample(name, labels, value))
}

// formatSample is the line of one series.
func formatSample(name, labels, value string) string {
	return name + "{" + labels + "} " + value + "\n"
}
