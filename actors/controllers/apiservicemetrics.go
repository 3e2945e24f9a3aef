package controllers

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/VictoriaMetrics/metrics"
)

// APIServiceMetrics count which APIServices are unavailable. Series are those of APIServices that there are. Many
// goroutines may use them.
type APIServiceMetrics struct {
	mu       sync.Mutex // guards services
	services map[string]*apiServiceSeries
}

// apiServiceSeries are the figures of one APIService.
type apiServiceSeries struct {
	available bool
	became    map[string]uint64 // how often it has become unavailable, by reason
}

// NewAPIServiceMetrics makes metrics without series.
func NewAPIServiceMetrics() *APIServiceMetrics {
	return &APIServiceMetrics{services: map[string]*apiServiceSeries{}}
}

// set records whether a server is available now.
func (m *APIServiceMetrics) set(name string, available bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.services[name] == nil {
		m.services[name] = &apiServiceSeries{became: map[string]uint64{}}
	}
	m.services[name].available = available
}

// change sets what there is. A probe may still be under way when its APIService goes, and must not bring its series back.
func (m *APIServiceMetrics) change(name string, available bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.services[name]; s != nil {
		s.available = available
	}
}

// forget drops the figures of an APIService that was deleted, or its series would stay for good.
func (m *APIServiceMetrics) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.services, name)
}

// count counts that an APIService, if there still is one of the name, has become unavailable.
func (m *APIServiceMetrics) count(name, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.services[name]; s != nil {
		s.became[reason]++
	}
}

// WriteMetrics writes all series in the text exposition format.
// Names and reasons are sorted, so that two scrapes can be compared line by line.
func (m *APIServiceMetrics) WriteMetrics(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	const gauge, counter = "aggregator_unavailable_apiservice", "aggregator_unavailable_apiservice_total"
	names := slices.Sorted(maps.Keys(m.services))
	fmt.Fprintf(w, "# HELP %s Whether an APIService is unavailable, by name.\n# TYPE %[1]s gauge\n", gauge)
	for _, name := range names {
		unavailable := uint64(1)
		if m.services[name].available {
			unavailable = 0
		}
		metrics.WriteGaugeUint64(w, fmt.Sprintf("%s{name=%q}", gauge, name), unavailable)
	}
	fmt.Fprintf(w, "# HELP %s How often an APIService has become unavailable, by name and reason.\n# TYPE %[1]s counter\n", counter)
	for _, name := range names {
		became := m.services[name].became
		for _, reason := range slices.Sorted(maps.Keys(became)) {
			metrics.WriteCounterUint64(w, fmt.Sprintf("%s{name=%q,reason=%q}", counter, name, reason), became[reason])
		}
	}
}
