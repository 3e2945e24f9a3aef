package webhook

import (
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission/match"
)

type errorKind string

const (
	callingError  errorKind = "calling_webhook_error"
	internalError errorKind = "apiserver_internal_error"
	noError       errorKind = "no_error"
)

// maxCode bounds the code label, so that webhooks cannot create arbitrary series.
const maxCode = 600

// buckets holds the histogram buckets in seconds, as in Kubernetes.
var buckets = []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25}

// Metrics counts webhook calls by result. It is safe for concurrent use.
type Metrics struct {
	took                            *metrics.Histograms
	failOpens, rejections, requests *metrics.Counters

	mu   sync.Mutex // guards uses and changes to series
	uses map[hookKey]int
}

// A hookKey identifies webhooks in metrics. Webhooks in different configurations may have the same
// key. Removing the last webhook with a key deletes the series of the key.
type hookKey struct {
	sort sort
	name string
}

// NewMetrics returns Metrics without series.
func NewMetrics() *Metrics {
	return &Metrics{
		took: metrics.NewHistograms("apiserver_admission_webhook_admission_duration_seconds",
			"Webhook duration, by name, type (admit or validating), operation and whether the request was rejected.", buckets,
			"name", "type", "operation", "rejected"),
		failOpens: metrics.NewCounters("apiserver_admission_webhook_fail_open_count",
			"Requests admitted although a webhook could not be called, by name and type (admit or validating).", "name", "type"),
		rejections: metrics.NewCounters("apiserver_admission_webhook_rejection_count",
			"Requests rejected because of a webhook, by name, type (admit or validating), operation, error type and code.",
			"name", "type", "operation", "error_type", "rejection_code"),
		requests: metrics.NewCounters("apiserver_admission_webhook_request_total",
			"Calls to webhooks, by name, type (admit or validating), operation, code and whether the request was rejected.",
			"name", "type", "operation", "code", "rejected"),
		uses: map[hookKey]int{},
	}
}

func (m *Metrics) add(s sort, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uses[hookKey{s, name}]++
}

func (m *Metrics) remove(s sort, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := hookKey{s, name}
	if m.uses[key]--; m.uses[key] > 0 {
		return
	}
	delete(m.uses, key)
	gone := func(labels []string) bool { return labels[0] == name && labels[1] == string(s) }
	m.took.Delete(gone)
	m.failOpens.Delete(gone)
	m.rejections.Delete(gone)
	m.requests.Delete(gone)
}

// count calls do unless the webhook was removed during the call, because only existing webhooks
// have series.
func (m *Metrics) count(h *hook, do func(name, kind string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.uses[hookKey{h.sort, h.name}] > 0 {
		do(h.name, string(h.sort))
	}
}

func (m *Metrics) failedOpen(h *hook) {
	m.count(h, func(name, kind string) { m.failOpens.With(name, kind).Inc() })
}

func (p *Plugin) observe(h *hook, a *request.Attributes, o outcome, took time.Duration) {
	m, operation := p.options.Metrics, match.OperationOf(a).String()
	code, rejected := strconv.Itoa(min(o.code, maxCode)), strconv.FormatBool(o.rejected)
	m.count(h, func(name, kind string) {
		if o.rejected && !o.canceled {
			m.rejections.With(name, kind, operation, string(o.kind), code).Inc()
		}
		m.requests.With(name, kind, operation, code, rejected).Inc()
		m.took.With(name, kind, operation, rejected).ObserveDuration(took)
	})
}

// WriteMetrics writes all series in the text exposition format.
func (m *Metrics) WriteMetrics(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.uses) > 0 {
		metrics.Write(w, m.took, m.failOpens, m.rejections, m.requests)
	}
}
