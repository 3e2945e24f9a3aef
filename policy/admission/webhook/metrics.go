package webhook

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// An errorKind is why a hook's call made a change be refused.
type errorKind string

const (
	callingError  errorKind = "calling_webhook_error"
	internalError errorKind = "apiserver_internal_error"
	noError       errorKind = "no_error"
)

// maxCode is the highest code that metrics tell apart, so that a hook cannot make series at will.
const maxCode = 600

// A family is one metric: its name and what it says.
type family struct{ name, kind, help string }

// The families, in the order in which they are written.
var (
	durations  = family{"apiserver_admission_webhook_admission_duration_seconds", "histogram", "How long webhooks took, by name, type (admit or validating), operation and whether the request was rejected."}
	failOpens  = family{"apiserver_admission_webhook_fail_open_count", "counter", "Changes that passed because a webhook could not be asked, by name and type (admit or validating)."}
	rejections = family{"apiserver_admission_webhook_rejection_count", "counter", "Changes that were refused because of a webhook, by name, type (admit or validating), operation, error type and code."}
	requests   = family{"apiserver_admission_webhook_request_total", "counter", "Questions to webhooks, by name, type (admit or validating), operation, code and whether the request was rejected."}
)

// buckets are the upper bounds of durations, in seconds, as the public API has them; 10 seconds is the
// default timeout of a webhook.
var buckets = []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25}

// Metrics count what becomes of questions. Series are those of hooks that there are. Many goroutines may use
// them.
type Metrics struct {
	mu    sync.Mutex // guards hooks and what is in them
	hooks map[hookKey]*hookMetrics
}

// hookKey is a hook as metrics know it: those of one name are one. Two configurations may have hooks of one
// name; uses counts them.
type hookKey struct {
	sort sort
	name string
}

type hookMetrics struct {
	uses     int // hooks of the name
	counters map[family]map[string]uint64
	took     map[string]*webhookclient.Histogram
}

// NewMetrics makes Metrics without series.
func NewMetrics() *Metrics { return &Metrics{hooks: map[hookKey]*hookMetrics{}} }

func (m *Metrics) add(s sort, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := hookKey{s, name}
	if m.hooks[key] == nil {
		m.hooks[key] = &hookMetrics{counters: map[family]map[string]uint64{}, took: map[string]*webhookclient.Histogram{}}
	}
	m.hooks[key].uses++
}

func (m *Metrics) remove(s sort, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := hookKey{s, name}
	if h := m.hooks[key]; h != nil {
		if h.uses--; h.uses == 0 {
			delete(m.hooks, key)
		}
	}
}

// count adds to a series of a hook that there still is. A hook that was removed while a question was under
// way is not counted any more.
func (m *Metrics) count(h *hook, f family, labels string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if of := m.hooks[hookKey{h.sort, h.name}]; of != nil {
		if of.counters[f] == nil {
			of.counters[f] = map[string]uint64{}
		}
		of.counters[f][labels]++
	}
}

func (m *Metrics) observe(h *hook, labels string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.hooks[hookKey{h.sort, h.name}]
	if of == nil {
		return
	}
	series := of.took[labels]
	if series == nil {
		series = webhookclient.NewHistogram(buckets)
		of.took[labels] = series
	}
	series.Add(took)
}

// labels are those of a hook, and more.
func (h *hook) labels(more ...string) string {
	text := fmt.Sprintf("name=%q,type=%q", h.name, h.sort)
	for i := 0; i+1 < len(more); i += 2 {
		text += fmt.Sprintf(",%s=%q", more[i], more[i+1])
	}
	return text
}

func (m *Metrics) failedOpen(h *hook) { m.count(h, failOpens, h.labels()) }

// observe counts the outcome of a question.
func (p *Plugin) observe(h *hook, a *request.Attributes, o outcome, took time.Duration) {
	m, operation := p.options.Metrics, match.OperationOf(a).String()
	code, rejected := strconv.Itoa(min(o.code, maxCode)), strconv.FormatBool(o.rejected)
	if o.rejected && !o.canceled {
		m.count(h, rejections, h.labels("operation", operation, "error_type", string(o.kind), "rejection_code", code))
	}
	m.count(h, requests, h.labels("operation", operation, "code", code, "rejected", rejected))
	m.observe(h, h.labels("operation", operation, "rejected", rejected), took)
}

// WritePrometheus writes all series in the text exposition format.
func (m *Metrics) WritePrometheus(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.hooks) == 0 {
		return
	}
	durations.write(w)
	for _, h := range m.hooks {
		for _, labels := range slices.Sorted(maps.Keys(h.took)) {
			h.took[labels].Write(w, durations.name, labels)
		}
	}
	for _, f := range []family{failOpens, rejections, requests} {
		f.write(w)
		for _, h := range m.hooks {
			for _, labels := range slices.Sorted(maps.Keys(h.counters[f])) {
				metrics.WriteCounterUint64(w, f.name+"{"+labels+"}", h.counters[f][labels])
			}
		}
	}
}

// write writes what a family is.
func (f family) write(w io.Writer) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", f.name, f.help, f.kind)
}
