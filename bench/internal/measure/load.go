package measure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// maxConsecutiveErrors is how many failures in a row end a worker: a server that is gone must not be
// hammered until the time is up.
const maxConsecutiveErrors = 20

// Load says how hard a target is driven. It ends at whichever bound is met first.
type Load struct {
	Concurrency int           // workers, each with a connection of its own
	Count       int           // operations, 0 for no bound
	Duration    time.Duration // 0 for no bound
	Profile     string        // file for the server's CPU profile meanwhile, empty for none
}

// Step is one operation, the n-th of the load; it returns the bytes of the bodies it was answered.
type Step func(c *server.Conn, n int) (bytes int, err error)

// Drive opens the connections, then runs step until the load is done. The error is about getting
// started; failures of single operations are in the sample.
func (l Load) Drive(ctx context.Context, target *server.Target, step Step) (*Sample, error) {
	conns, err := l.Connect(ctx, target)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	var (
		next  atomic.Int64
		group sync.WaitGroup
		parts = make([]Sample, l.Concurrency)
		sum   = &Sample{}
	)
	m := StartMeter(target)
	profiled := l.WhileProfiled(ctx, target, func() {
		for i, c := range conns {
			group.Go(func() { l.work(ctx, c, m.Begin, &next, &parts[i], step) })
		}
		group.Wait()
		for i := range parts {
			sum.Add(&parts[i])
		}
		m.Stop(sum)
	})
	return sum, errors.Join(ctx.Err(), profiled)
}

// Connect opens all connections and sends a request on each, so that handshakes are over before
// anything is measured.
func (l Load) Connect(ctx context.Context, target *server.Target) ([]*server.Conn, error) {
	conns := make([]*server.Conn, l.Concurrency)
	var group errgroup.Group
	for i := range conns {
		conns[i] = target.Conn()
		group.Go(func() error {
			if err := conns[i].Dial(ctx); err != nil {
				return fmt.Errorf("connect to %s: %w", target.Address, err)
			}
			_, _, err := conns[i].Do(http.MethodGet, "/version", "", nil)
			return err
		})
	}
	return conns, group.Wait()
}

// Done tells whether operation n must not begin any more.
func (l Load) Done(n int, elapsed time.Duration) bool {
	return l.Count > 0 && n >= l.Count || l.Duration > 0 && elapsed >= l.Duration
}

func (l Load) work(ctx context.Context, c *server.Conn, begin time.Time, next *atomic.Int64, part *Sample, step Step) {
	failures := 0
	now := time.Now()
	for failures < maxConsecutiveErrors && ctx.Err() == nil {
		n := int(next.Add(1) - 1)
		if l.Done(n, now.Sub(begin)) {
			return
		}
		bytes, err := step(c, n)
		before := now
		now = time.Now()
		if err != nil {
			failures++
			part.Fail(err)
			continue
		}
		failures = 0
		part.Operations++
		part.Bytes += int64(bytes)
		part.Latencies = append(part.Latencies, now.Sub(before))
	}
}
