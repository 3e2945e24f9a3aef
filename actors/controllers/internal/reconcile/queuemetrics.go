package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
)

// Metrics holds the metrics of all work queues in a process, named as in kube-controller-manager.
// Queues find it in the context of their controller (WithMetrics). It is safe for concurrent use.
type Metrics struct {
	adds, retries  *metrics.Counters
	waited, worked *metrics.Histograms

	mu     sync.Mutex            // guards queues; taken after a queue's lock, never before
	queues map[string][]stateful // active queues by name; lists are copied on write
}

func NewMetrics() *Metrics {
	buckets := metrics.ExponentialBuckets(1e-8, 10, 10)
	return &Metrics{
		adds:    metrics.NewCounters("workqueue_adds_total", "Items added to a work queue.", "name"),
		waited:  metrics.NewHistograms("workqueue_queue_duration_seconds", "Time that items wait in a work queue.", buckets, "name"),
		retries: metrics.NewCounters("workqueue_retries_total", "Items added to a work queue after a delay.", "name"),
		worked:  metrics.NewHistograms("workqueue_work_duration_seconds", "Time to process items.", buckets, "name"),
		queues:  map[string][]stateful{},
	}
}

type metricsKey struct{}

type metricsOf struct {
	metrics    *Metrics
	controller string
}

// WithMetrics returns a context in which a controller's work queues report to m. Unnamed queues use
// the controller's name.
func WithMetrics(ctx context.Context, m *Metrics, controller string) context.Context {
	return context.WithValue(ctx, metricsKey{}, metricsOf{m, controller})
}

// queueSeries holds the metric series of all work queues with one name, which outlive restarts of
// the queues. A nil queueSeries counts nothing.
type queueSeries struct {
	adds, retries  *metrics.Counter
	waited, worked *metrics.Histogram
}

func (q *queueSeries) countAdd() {
	if q != nil {
		q.adds.Inc()
	}
}

func (q *queueSeries) countRetry() {
	if q != nil {
		q.retries.Inc()
	}
}

func (q *queueSeries) countQueued(d time.Duration) {
	if q != nil {
		q.waited.ObserveDuration(d)
	}
}

func (q *queueSeries) countWork(d time.Duration) {
	if q != nil {
		q.worked.ObserveDuration(d)
	}
}

type stateful interface {
	state(now time.Time) queueState
}

type queueState struct {
	depth               int
	unfinished, longest time.Duration // processing times: total, and the longest
}

// observe registers the queue with the metrics in ctx, if any, until ctx is done. Items added
// before the call are also counted.
func (b *Workqueue[T]) observe(ctx context.Context) {
	in, ok := ctx.Value(metricsKey{}).(metricsOf)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !ok || b.metrics != nil {
		return
	}
	b.name = cmp.Or(b.name, in.controller)
	m := in.metrics
	b.metrics = &queueSeries{m.adds.With(b.name), m.retries.With(b.name), m.waited.With(b.name), m.worked.With(b.name)}
	b.metrics.adds.Add(len(b.queued))
	m.mu.Lock()
	m.queues[b.name] = append(slices.Clip(m.queues[b.name]), b)
	m.mu.Unlock()
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.queues[b.name] = slices.DeleteFunc(slices.Clone(m.queues[b.name]), func(q stateful) bool { return q == b })
	})
}

func (b *Workqueue[T]) state(now time.Time) queueState {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := queueState{depth: len(b.items)}
	for _, since := range b.processing {
		s.unfinished += now.Sub(since)
		s.longest = max(s.longest, now.Sub(since))
	}
	return s
}

// WriteMetrics writes the series in the text exposition format.
func (m *Metrics) WriteMetrics(w io.Writer) {
	m.mu.Lock()
	queues := maps.Clone(m.queues)
	m.mu.Unlock()
	now := time.Now()
	depth, longest, unfinished := metrics.Samples{}, metrics.Samples{}, metrics.Samples{}
	for name, all := range queues {
		var sum queueState
		for _, q := range all {
			s := q.state(now)
			sum.depth += s.depth
			sum.unfinished += s.unfinished
			sum.longest = max(sum.longest, s.longest)
		}
		labels := fmt.Sprintf("name=%q", name)
		depth[labels], longest[labels], unfinished[labels] = sum.depth, sum.longest.Seconds(), sum.unfinished.Seconds()
	}
	metrics.Write(w, m.adds, metrics.GaugeValue("workqueue_depth", "Depth of a work queue.", depth),
		metrics.GaugeValue("workqueue_longest_running_processor_seconds", "Time that the longest running item has been in progress.", longest),
		m.waited, m.retries,
		metrics.GaugeValue("workqueue_unfinished_work_seconds", "Sum of the times that items have been in progress.", unfinished), m.worked)
}
