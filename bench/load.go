package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// maxConsecutiveErrors is the number of consecutive errors after which a worker stops, to avoid
// flooding a failed server.
const maxConsecutiveErrors = 20

// Load defines the load on a target. It ends at the first limit that is reached.
type Load struct {
	Concurrency int           // workers with a connection each
	Count       int           // operations, 0 for no bound
	Duration    time.Duration // 0 for no bound
	Profile     string        // file for the server's CPU profile, empty for none
}

// Step runs the n-th operation of a load and returns the bytes of the response bodies.
type Step func(c *Conn, n int) (bytes int, err error)

// errRefused marks an operation that the server rejects as intended. It counts neither as an
// operation nor as an error.
var errRefused = errors.New("refused")

// drive opens the connections and runs step until the load is done. It returns an error if the
// load cannot start. The sample counts failed operations.
func (l Load) drive(ctx context.Context, target *Target, step Step) (*Sample, error) {
	conns, err := l.connect(ctx, target)
	defer closeAll(conns)
	if err != nil {
		return nil, err
	}
	var (
		next  atomic.Int64
		group sync.WaitGroup
		parts = make([]Sample, l.Concurrency)
		sum   = &Sample{}
	)
	m := startMeter(target)
	profiled := l.whileProfiled(ctx, target, func() {
		for i, c := range conns {
			group.Go(func() { l.work(ctx, c, m.begin, &next, &parts[i], step) })
		}
		group.Wait()
		m.stop(sum, parts...)
	})
	return sum, errors.Join(ctx.Err(), profiled)
}

// connect opens all connections and sends a request on each, so that the measurement excludes
// handshakes.
func (l Load) connect(ctx context.Context, target *Target) ([]*Conn, error) {
	conns := make([]*Conn, l.Concurrency)
	var group errgroup.Group
	for i := range conns {
		conns[i] = target.Conn()
		group.Go(func() error {
			if err := conns[i].Dial(ctx); err != nil {
				return fmt.Errorf("connect to %s: %w", target.Address, err)
			}
			_, _, err := conns[i].Do(get("/version"))
			return err
		})
	}
	return conns, group.Wait()
}

func (l Load) done(n int, elapsed time.Duration) bool {
	return l.Count > 0 && n >= l.Count || l.Duration > 0 && elapsed >= l.Duration
}

func (l Load) work(ctx context.Context, c *Conn, begin time.Time, next *atomic.Int64, part *Sample, step Step) {
	failures := 0
	now := time.Now()
	for failures < maxConsecutiveErrors && ctx.Err() == nil {
		n := int(next.Add(1) - 1)
		if l.done(n, now.Sub(begin)) {
			return
		}
		bytes, err := step(c, n)
		before := now
		now = time.Now()
		switch {
		case err == nil:
			failures = 0
			part.record(now.Sub(before), bytes)
		case !errors.Is(err, errRefused):
			failures++
			part.fail(err)
		}
	}
}

// whileProfiled saves a CPU profile of the server during the load, if requested.
func (l Load) whileProfiled(ctx context.Context, target *Target, run func()) error {
	var profiling errgroup.Group
	if l.Profile != "" {
		profiling.Go(func() error {
			c := target.Conn()
			defer c.Close()
			c.timeout = l.Duration + requestTimeout
			answer, err := c.Call(get(fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, int(l.Duration.Seconds())))))
			if err != nil {
				return fmt.Errorf("profile: %w", err)
			}
			return os.WriteFile(l.Profile, answer, 0o644)
		})
	}
	run()
	return profiling.Wait()
}

// paced runs operations at the given average rate per second. An operation that is behind
// schedule runs immediately.
func paced(rate float64, step Step) Step {
	begin := sync.OnceValue(time.Now)
	return func(c *Conn, n int) (int, error) {
		time.Sleep(time.Until(begin().Add(time.Duration(float64(n) / rate * float64(time.Second)))))
		return step(c, n)
	}
}
