package reconcile

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWorkqueueOneWorkerPerItem(t *testing.T) {
	t.Parallel()
	q := NewWorkqueue[string]()
	q.Add("a", "a")
	if got := q.Get(t.Context(), 9); len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	q.Add("a", "b", "a")
	if got := q.Get(t.Context(), 9); len(got) != 1 || got[0] != "b" {
		t.Fatalf("while a is processed: got %v", got)
	}
	q.Done(t.Context(), "b", nil)
	q.Done(t.Context(), "a", nil)
	if got := q.Get(t.Context(), 9); len(got) != 1 || got[0] != "a" {
		t.Fatalf("got %v", got)
	}
	q.Done(t.Context(), "a", nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := q.Get(ended, 9); got != nil {
		t.Fatalf("left: %v", got)
	}
}

// TestWorkqueueRun checks that a slow item does not block other items, that failures are retried,
// and that Run waits for its workers.
func TestWorkqueueRun(t *testing.T) {
	t.Parallel()
	q := NewWorkqueue[string]()
	ctx, cancel := context.WithCancel(t.Context())
	slow := make(chan struct{})
	var tries, reports int
	var mu sync.Mutex
	do := func(_ context.Context, item string) error {
		if item == "slow" {
			<-slow
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if tries++; tries < 3 {
			return errors.New("not yet")
		}
		close(slow)
		cancel()
		return nil
	}
	q.Add("slow", "failing")
	q.Run(ctx, do, func(string, error) { reports++ })
	if tries != 3 || reports != 2 {
		t.Errorf("%d tries and %d reports", tries, reports)
	}
}

// TestWorkqueueRetriesOnce checks that repeated adds do not cause more retries, and that an item
// has only one pending delay.
func TestWorkqueueRetriesOnce(t *testing.T) {
	for name, done := range map[string]func(ctx context.Context, q *Workqueue[string]){
		"fails": func(ctx context.Context, q *Workqueue[string]) { q.Done(ctx, "a", errors.New("not yet")) },
		"repeats": func(ctx context.Context, q *Workqueue[string]) {
			q.AddAfter(ctx, "a", MaxRetryDelay)
			q.Done(ctx, "a", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				q := NewWorkqueue[string]()
				var processed atomic.Int64
				var worker sync.WaitGroup
				worker.Go(func() {
					for q.Get(ctx, 1) != nil {
						processed.Add(1)
						done(ctx, q)
					}
				})
				for range 20 {
					q.Add("a")
					time.Sleep(time.Second)
				}
				time.Sleep(2 * MaxRetryDelay)
				before := processed.Load()
				time.Sleep(10 * MaxRetryDelay)
				cancel()
				worker.Wait()
				if n := processed.Load() - before; n < 9 || n > 11 {
					t.Errorf("%d times in ten periods", n)
				}
			})
		})
	}
}

func TestWorkqueueMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMetrics()
		for range 2 {
			ctx, cancel := context.WithCancel(WithMetrics(t.Context(), m, "pod-controller"))
			q := NewWorkqueue[string]()
			q.Add("a", "b")
			q.Get(ctx, 1)
			time.Sleep(time.Second)
			expectSeries(t, m, `workqueue_depth{name="pod-controller"} 1`, `workqueue_unfinished_work_seconds{name="pod-controller"} 1`)
			q.Done(ctx, "a", errors.New("no"))
			cancel()
			synctest.Wait()
		}
		named := NewWorkqueue[string]().Named("pods")
		named.Add("c")
		named.Get(WithMetrics(t.Context(), m, "pod-controller"), 1)
		expectSeries(t, m, `workqueue_adds_total{name="pod-controller"} 4`, `workqueue_depth{name="pod-controller"} 0`,
			`workqueue_retries_total{name="pod-controller"} 2`, `workqueue_work_duration_seconds_bucket{name="pod-controller",le="1"} 2`,
			`workqueue_work_duration_seconds_bucket{name="pod-controller",le="0.1"} 0`, `workqueue_queue_duration_seconds_count{name="pods"} 1`,
			`workqueue_longest_running_processor_seconds{name="pods"} 0`)
	})
}

func expectSeries(t *testing.T, m *Metrics, lines ...string) {
	t.Helper()
	var text strings.Builder
	m.WriteMetrics(&text)
	for _, line := range lines {
		if !strings.Contains(text.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, text.String())
		}
	}
}
