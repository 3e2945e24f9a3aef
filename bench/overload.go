package main

import (
	"context"
	"net/http"
	"sync/atomic"
)

// overloadFactor is the ratio of the burst's rate to the full-speed rate. overloadClients far
// exceeds the number of clients that a server admits concurrently by default.
const (
	overloadFactor  = 3
	overloadClients = 1_200
)

// overload measures updates at full speed, then at three times that rate from many more clients,
// and then at full speed again. A server should serve as many requests as it can, quickly reject
// the others with 429, and recover fully. A 429 does not count as an error here.
func overload(ctx context.Context, f *fixture) ([]Result, error) {
	before, err := f.load().drive(ctx, f.Target, step(f.put))
	if err != nil {
		return nil, err
	}
	var refused, withoutRetryAfter atomic.Int64
	burst := Load{Concurrency: f.connections("overload: clients", f.scaledSize("overload: clients", overloadClients)), Duration: f.Duration, Count: overloadFactor * f.Count}
	parts := &breakdown{}
	during, err := burst.drive(ctx, f.Target, paced(max(1, overloadFactor*before.rate()), func(c *Conn, n int) (int, error) {
		return parts.time("put", func() (int, error) {
			size, err := calls(c, f.put(n))
			if err != nil && c.Response.StatusCode() == http.StatusTooManyRequests {
				refused.Add(1)
				if len(c.Response.Header.Peek("Retry-After")) == 0 {
					withoutRetryAfter.Add(1)
				}
				err = errRefused
			}
			return size, err
		})
	}))
	if err != nil {
		return nil, err
	}
	parts.results(during) // latencies exclude the pacing delay
	after, err := f.load().drive(ctx, f.Target, step(f.put))
	if err != nil {
		return nil, err
	}
	if n := withoutRetryAfter.Load(); n > 0 {
		f.Note("overload: %d responses 429 had no Retry-After", n)
	}
	share, lost := 0.0, 0.0
	if n := float64(refused.Load()); n > 0 {
		share = 100 * n / (n + float64(during.Operations))
	}
	if before.rate() > 0 {
		lost = 100 * (1 - after.rate()/before.rate())
	}
	return []Result{
		{Name: ", before", Sample: before},
		{Name: ", burst", Sample: during, Figure: &Figure{Value: share, Unit: "% answered 429"}},
		{Name: ", after", Sample: after, Figure: &Figure{Value: lost, Unit: "% of the rate lost"}},
	}, nil
}
