package conversion

import (
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
)

// Histogram bucket bounds in seconds, for the per-CRD metric and the metric of all calls.
var (
	definitionBuckets = []float64{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384}
	webhookBuckets    = []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60}
)

// Metrics counts conversions. It keeps the series of a CRD only while the CRD exists. It is safe
// for concurrent use.
type Metrics struct {
	defined            func(definition string) bool
	byDefinition, took *metrics.Histograms
	requests           *metrics.Counters
}

// NewMetrics returns Metrics without series. defined reports whether a CRD exists.
func NewMetrics(defined func(definition string) bool) *Metrics {
	return &Metrics{
		defined: defined,
		byDefinition: metrics.NewHistograms("apiserver_crd_conversion_webhook_duration_seconds",
			"Conversion duration by webhooks, by CRD, versions and success.", definitionBuckets,
			"crd_name", "from_version", "to_version", "succeeded"),
		requests: metrics.NewCounters("apiserver_conversion_webhook_request_total",
			"Calls to conversion webhooks, by result and type of failure.", "result", "failure_type"),
		took: metrics.NewHistograms("apiserver_conversion_webhook_duration_seconds",
			"Duration of calls to conversion webhooks, by result and type of failure.", webhookBuckets, "result", "failure_type"),
	}
}

// maxSeries is the number of per-CRD series at which observe removes the series of deleted CRDs.
const maxSeries = 4096

// observe counts the result of a call. The type of a *failure becomes a label. Errors of
// newQuestion are not counted.
func (m *Metrics) observe(q *question, err error, elapsed time.Duration) {
	result, kind := "success", failureType("")
	var failed *failure
	if errors.As(err, &failed) {
		result, kind = "failure", failed.kind
	}
	if m.byDefinition.Len() >= maxSeries {
		m.forget()
	}
	m.byDefinition.With(q.target.Origin.Definition, q.fromVersion(), q.target.Version, strconv.FormatBool(err == nil)).ObserveDuration(elapsed)
	m.requests.With(result, string(kind)).Inc()
	m.took.With(result, string(kind)).ObserveDuration(elapsed)
}

// forget drops the series of deleted CRDs. Otherwise series would accumulate in test clusters that
// often recreate CRDs.
func (m *Metrics) forget() {
	m.byDefinition.Delete(func(labels []string) bool { return !m.defined(labels[0]) })
}

// WriteMetrics writes all series in the text exposition format.
func (m *Metrics) WriteMetrics(w io.Writer) {
	m.forget()
	if m.requests.Len() > 0 {
		metrics.Write(w, m.byDefinition, m.requests, m.took)
	}
}
