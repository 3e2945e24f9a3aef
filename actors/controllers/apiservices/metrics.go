package apiservices

import (
	"io"
	"sync"

	"github.com/troupe-api/troupe/internal/metrics"
)

// Metrics counts unavailable APIServices. It has series only for existing APIServices. It is safe
// for concurrent use.
type Metrics struct {
	unavailable *metrics.Gauges
	became      *metrics.Counters

	mu     sync.Mutex // guards exists, and changes to the series
	exists map[string]bool
}

func NewMetrics() *Metrics {
	return &Metrics{
		unavailable: metrics.NewGauges("aggregator_unavailable_apiservice", "Whether an APIService is unavailable, by name.", "name"),
		became: metrics.NewCounters("aggregator_unavailable_apiservice_total",
			"How often an APIService has become unavailable, by name and reason.", "name", "reason"),
		exists: map[string]bool{},
	}
}

func (m *Metrics) set(name string, available bool) {
	m.mu.Lock()
	m.exists[name] = true
	m.mu.Unlock()
	m.change(name, available)
}

// change records the availability of an APIService. It ignores deleted APIServices, because a late
// probe must not restore their series.
func (m *Metrics) change(name string, available bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.exists[name] {
		return
	}
	value := 1.0
	if available {
		value = 0
	}
	m.unavailable.With(name).Set(value)
}

func (m *Metrics) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.exists, name)
	gone := func(labels []string) bool { return labels[0] == name }
	m.unavailable.Delete(gone)
	m.became.Delete(gone)
}

func (m *Metrics) count(name, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exists[name] {
		m.became.With(name, reason).Inc()
	}
}

// WriteMetrics writes all series in the text exposition format.
func (m *Metrics) WriteMetrics(w io.Writer) { metrics.Write(w, m.unavailable, m.became) }
