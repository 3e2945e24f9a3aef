package conversion

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// The upper bounds of durations, in seconds: of conversions by definition, and of all.
var (
	definitionBuckets = []float64{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384}
	webhookBuckets    = []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60}
)

// Metrics count conversions. Series by definition are those of definitions that there are. Many goroutines may use
// them.
type Metrics struct {
	defined func(definition string) bool

	mu           sync.Mutex // guards what follows
	byDefinition map[string]map[string]*webhookclient.Histogram
	requests     map[string]uint64
	took         map[string]*webhookclient.Histogram
}

// NewMetrics makes Metrics without series. defined tells whether there is a definition of a name.
func NewMetrics(defined func(definition string) bool) *Metrics {
	return &Metrics{
		defined: defined, byDefinition: map[string]map[string]*webhookclient.Histogram{},
		requests: map[string]uint64{}, took: map[string]*webhookclient.Histogram{},
	}
}

// maxDefinitions is how many definitions have series before those that are gone are looked for.
const maxDefinitions = 1024

// observe counts how a question has ended. Every error of a question is a *failure, whose type is a
// label; one that cannot even be asked (newQuestion) is not counted.
func (m *Metrics) observe(q *question, err error, elapsed time.Duration) {
	result, kind := "success", failureType("")
	var failed *failure
	if errors.As(err, &failed) {
		result, kind = "failure", failed.kind
	}
	definition := q.target.Origin.Definition
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.byDefinition) >= maxDefinitions {
		m.forget()
	}
	if m.byDefinition[definition] == nil {
		m.byDefinition[definition] = map[string]*webhookclient.Histogram{}
	}
	add(m.byDefinition[definition], definitionBuckets, elapsed,
		fmt.Sprintf("crd_name=%q,from_version=%q,to_version=%q,succeeded=%q", definition, q.fromVersion(), q.target.Version, fmt.Sprint(err == nil)))
	labels := fmt.Sprintf("result=%q,failure_type=%q", result, kind)
	m.requests[labels]++
	add(m.took, webhookBuckets, elapsed, labels)
}

// add adds to a series. m.mu is held. Series are made when they are first needed, so that there are none of what
// never happens.
func add(all map[string]*webhookclient.Histogram, buckets []float64, elapsed time.Duration, labels string) {
	if all[labels] == nil {
		all[labels] = webhookclient.NewHistogram(buckets)
	}
	all[labels].Add(elapsed)
}

// forget drops the series of definitions that are gone. m.mu is held. Without it definitions that come and go, as in
// tests of operators, would fill the memory with their series.
func (m *Metrics) forget() {
	maps.DeleteFunc(m.byDefinition, func(definition string, _ map[string]*webhookclient.Histogram) bool { return !m.defined(definition) })
}

// The names of the series are those of the API server that clients know.
const (
	byDefinitionName = "apiserver_crd_conversion_webhook_duration_seconds"
	requestsName     = "apiserver_conversion_webhook_request_total"
	tookName         = "apiserver_conversion_webhook_duration_seconds"
)

// WritePrometheus writes all series in the text exposition format.
func (m *Metrics) WritePrometheus(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	if len(m.requests) == 0 {
		return
	}
	writeHead(w, byDefinitionName, "histogram", "How long conversions by webhooks took, by definition, versions and success.")
	for _, definition := range slices.Sorted(maps.Keys(m.byDefinition)) {
		writeAll(w, byDefinitionName, m.byDefinition[definition])
	}
	writeHead(w, requestsName, "counter", "Questions to conversion webhooks, by result and type of failure.")
	for _, labels := range slices.Sorted(maps.Keys(m.requests)) {
		metrics.WriteCounterUint64(w, requestsName+"{"+labels+"}", m.requests[labels])
	}
	writeHead(w, tookName, "histogram", "How long questions to conversion webhooks took, by result and type of failure.")
	writeAll(w, tookName, m.took)
}

// writeAll writes the series of one name, in the order of their labels, so that two scrapes can be compared.
func writeAll(w io.Writer, name string, all map[string]*webhookclient.Histogram) {
	for _, labels := range slices.Sorted(maps.Keys(all)) {
		all[labels].Write(w, name, labels)
	}
}

// writeHead writes what comes before the series of a name.
func writeHead(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, strings.TrimSpace(help), kind)
}
