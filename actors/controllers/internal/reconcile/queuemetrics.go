package reconcile

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/troupe-api/troupe/policy/webhookclient"
)

// Metrics are the figures of the work queues of all controllers of one daemon, under the names that those of
// kube-controller-manager have. Queues find them in the context that their controller runs with, so that a controller has
// nothing to do for them. Many goroutines may use them.
type Metrics struct {
	mu     sync.Mutex // guards queues
	queues map[string]*queueMetrics
}

// NewMetrics makes Metrics without queues.
func NewMetrics() *Metrics { return &Metrics{queues: map[string]*queueMetrics{}} }

// metricsKey is the key of a metricsOf in a context.
type metricsKey struct{}

// metricsOf is where the queues of a controller are counted.
type metricsOf struct {
	metrics    *Metrics
	controller string
}

// WithMetrics returns the context for a controller whose queues are counted. Those without a name of their own get
// the controller's.
func WithMetrics(ctx context.Context, m *Metrics, controller string) context.Context {
	return context.WithValue(ctx, metricsKey{}, metricsOf{m, controller})
}

// series returns the figures of a name. They go on when a controller is started anew.
func (m *Metrics) series(name string) *queueMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queues[name] == nil {
		buckets := make([]float64, 10)
		for i, bound := 0, 1e-8; i < len(buckets); i, bound = i+1, bound*10 {
			buckets[i] = bound
		}
		m.queues[name] = &queueMetrics{waited: webhookclient.NewHistogram(buckets), worked: webhookclient.NewHistogram(buckets),
			queues: map[any]func(time.Time) queueGauges{}}
	}
	return m.queues[name]
}

// queueMetrics are the figures of the queues of one name. A nil one counts nothing.
type queueMetrics struct {
	mu             sync.Mutex // guards what follows; taken while a queue's own is held, so a queue is not asked under it
	adds, retries  uint64
	waited, worked *webhookclient.Histogram
	queues         map[any]func(now time.Time) queueGauges // those in use, by the queue
}

// queueGauges are what a queue holds at a moment.
type queueGauges struct {
	depth               int
	unfinished, longest time.Duration // that items are being processed: together, and the longest
}

func (m *queueMetrics) countAdd() { m.count(func() { m.adds++ }) }

func (m *queueMetrics) countRetry() { m.count(func() { m.retries++ }) }

func (m *queueMetrics) countQueued(d time.Duration) { m.count(func() { m.waited.Add(d) }) }

func (m *queueMetrics) countWork(d time.Duration) { m.count(func() { m.worked.Add(d) }) }

func (m *queueMetrics) count(change func()) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// observe begins to count a queue in the metrics of a context, if it has any, until that ends. What was added
// before is counted now.
func (b *Workqueue[T]) observe(ctx context.Context) {
	in, ok := ctx.Value(metricsKey{}).(metricsOf)
	b.mu.Lock()
	if !ok || b.metrics != nil {
		b.mu.Unlock()
		return
	}
	if b.name == "" {
		b.name = in.controller
	}
	m := in.metrics.series(b.name)
	b.metrics = m
	added := len(b.queued)
	b.mu.Unlock()
	m.count(func() { m.adds, m.queues[b] = m.adds+uint64(added), b.gauges })
	context.AfterFunc(ctx, func() { m.count(func() { delete(m.queues, b) }) })
}

// gauges tells what the queue holds.
func (b *Workqueue[T]) gauges(now time.Time) queueGauges {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := queueGauges{depth: len(b.items)}
	for _, since := range b.processing {
		g.unfinished += now.Sub(since)
		g.longest = max(g.longest, now.Sub(since))
	}
	return g
}

// gauges sums what the queues of the name hold.
func (m *queueMetrics) gauges(now time.Time) (sum queueGauges) {
	m.mu.Lock()
	queues := slices.Collect(maps.Values(m.queues))
	m.mu.Unlock()
	for _, gauges := range queues {
		g := gauges(now)
		sum.depth += g.depth
		sum.unfinished += g.unfinished
		sum.longest = max(sum.longest, g.longest)
	}
	return sum
}

// WriteMetrics writes the series in the text exposition format.
func (m *Metrics) WriteMetrics(w io.Writer) {
	m.mu.Lock()
	queues := maps.Clone(m.queues)
	m.mu.Unlock()
	now := time.Now()
	gauge := func(value func(queueGauges) float64) func(*queueMetrics, string, string) {
		return func(q *queueMetrics, name, labels string) {
			metrics.WriteGaugeFloat64(w, name+"{"+labels+"}", value(q.gauges(now)))
		}
	}
	counter := func(of func(*queueMetrics) uint64) func(*queueMetrics, string, string) {
		return func(q *queueMetrics, name, labels string) {
			q.count(func() { metrics.WriteCounterUint64(w, name+"{"+labels+"}", of(q)) })
		}
	}
	histogram := func(of func(*queueMetrics) *webhookclient.Histogram) func(*queueMetrics, string, string) {
		return func(q *queueMetrics, name, labels string) { q.count(func() { of(q).Write(w, name, labels) }) }
	}
	for _, f := range []struct {
		name, kind, help string
		write            func(q *queueMetrics, name, labels string)
	}{
		{"workqueue_adds_total", "counter", "Items that were added to a queue.", counter(func(q *queueMetrics) uint64 { return q.adds })},
		{"workqueue_depth", "gauge", "Items that wait in a queue.", gauge(func(g queueGauges) float64 { return float64(g.depth) })},
		{"workqueue_longest_running_processor_seconds", "gauge", "How long the item that is in process longest has been so.",
			gauge(func(g queueGauges) float64 { return g.longest.Seconds() })},
		{"workqueue_queue_duration_seconds", "histogram", "How long items wait in a queue.",
			histogram(func(q *queueMetrics) *webhookclient.Histogram { return q.waited })},
		{"workqueue_retries_total", "counter", "Items that were to be added later.", counter(func(q *queueMetrics) uint64 { return q.retries })},
		{"workqueue_unfinished_work_seconds", "gauge", "How long all items in process have been so, together.",
			gauge(func(g queueGauges) float64 { return g.unfinished.Seconds() })},
		{"workqueue_work_duration_seconds", "histogram", "How long the processing of items takes.",
			histogram(func(q *queueMetrics) *webhookclient.Histogram { return q.worked })},
	} {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", f.name, f.help, f.kind)
		for _, name := range slices.Sorted(maps.Keys(queues)) {
			f.write(queues[name], f.name, fmt.Sprintf("name=%q", name))
		}
	}
}
