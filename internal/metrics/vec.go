package metrics

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	vm "github.com/VictoriaMetrics/metrics"
)

// Counter and Gauge are the series types of the VictoriaMetrics library.
type (
	Counter = vm.Counter
	Gauge   = vm.Gauge
)

// A Vec is a metric family with one series per combination of label values. Series are created on
// first use. A Vec is safe for concurrent use.
type Vec[S any] struct {
	name, kind, help string
	labels           []string
	newSeries        func() *S
	most             int
	bounded          []string // labels that are "" in series beyond most

	mu     sync.RWMutex // guards series
	series map[labelValues]*S
}

type (
	Counters   = Vec[Counter]
	Gauges     = Vec[Gauge]
	Histograms = Vec[Histogram]
)

// labelValues holds the values of up to eight labels in the order of declaration. It is an array,
// so that map lookups do not allocate.
type labelValues [8]string

// NewCounters declares a family of counters.
func NewCounters(name, help string, labels ...string) *Counters {
	return newVec(name, "counter", help, labels, func() *Counter { return &Counter{} })
}

// NewGauges declares a family of gauges.
func NewGauges(name, help string, labels ...string) *Gauges {
	return newVec(name, "gauge", help, labels, func() *Gauge { return &Gauge{} })
}

// NewHistograms declares a family of histograms with the given upper bounds.
func NewHistograms(name, help string, bounds []float64, labels ...string) *Histograms {
	return newVec(name, "histogram", help, labels, func() *Histogram { return NewHistogram(bounds) })
}

func newVec[S any](name, kind, help string, labels []string, newSeries func() *S) *Vec[S] {
	return &Vec[S]{name: name, kind: kind, help: help, labels: labels, newSeries: newSeries, series: map[labelValues]*S{}}
}

// Bound sets the maximum number of series. Beyond it, new series get empty values for the given
// labels, whose values clients can choose.
func (v *Vec[S]) Bound(most int, labels ...string) *Vec[S] {
	v.most, v.bounded = most, labels
	return v
}

// With returns the series for the values of all labels, in the order of declaration.
func (v *Vec[S]) With(values ...string) *S {
	var key labelValues
	copy(key[:], values)
	v.mu.RLock()
	s := v.series[key]
	v.mu.RUnlock()
	if s == nil {
		s = v.add(key)
	}
	return s
}

func (v *Vec[S]) add(key labelValues) *S {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.series[key] == nil && v.most > 0 && len(v.series) >= v.most {
		for _, label := range v.bounded {
			key[slices.Index(v.labels, label)] = ""
		}
	}
	if v.series[key] == nil {
		v.series[key] = v.newSeries()
	}
	return v.series[key]
}

// Delete deletes the series for which gone returns true.
func (v *Vec[S]) Delete(gone func(values []string) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.series, func(key labelValues, _ *S) bool { return gone(key[:len(v.labels)]) })
}

// Len returns the number of series.
func (v *Vec[S]) Len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.series)
}

// Write writes the family in the text exposition format.
func (v *Vec[S]) Write(w io.Writer) {
	v.mu.RLock()
	samples := make(Samples, len(v.series))
	for key, s := range v.series {
		samples[v.text(key)] = s
	}
	v.mu.RUnlock()
	Family{v.name, v.kind, v.help, samples}.Write(w)
}

func (v *Vec[S]) text(values labelValues) string {
	pairs := make([]string, len(v.labels))
	for i, label := range v.labels {
		pairs[i] = fmt.Sprintf("%s=%q", label, values[i])
	}
	return strings.Join(pairs, ",")
}
