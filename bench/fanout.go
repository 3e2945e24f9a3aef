package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const burstEvents = 100

// broadcast sends events to many watchers. An operation is the delivery of one event to one
// watcher.
type broadcast struct {
	target   *Target
	watch    string // path
	watchers int
	burst    int                 // events sent between waits
	publish  func(n int) Request // returns the request that causes an event
	load     Load
}

// watchFanout changes objects while many clients watch. To measure latency, it waits until all
// watchers have received an event before it sends the next. To measure throughput, it sends bursts,
// so that a server can write several events together.
func watchFanout(ctx context.Context, f *fixture) ([]Result, error) {
	single, err := f.broadcast(ctx, f.Watchers, 1)
	if err != nil {
		return nil, err
	}
	f.Profile = "" // profile single events only
	bursts, err := f.broadcast(ctx, f.Watchers, burstEvents)
	if err != nil {
		return nil, err
	}
	floor := floorBroadcast(f.load(), f.Watchers, single.bytesPerOperation())
	return []Result{{Sample: single, Floor: floor}, {Name: ", bursts", Sample: bursts, Floor: floor}}, nil
}

func (f *fixture) broadcast(ctx context.Context, watchers, burst int) (*Sample, error) {
	path, err := f.watchPath(f.collection())
	if err != nil {
		return nil, err
	}
	return broadcast{target: f.Target, watch: path, watchers: watchers, burst: burst, publish: f.put, load: f.load()}.run(ctx)
}

// floorBroadcast returns a function that measures the same broadcast on the floor, the bare server
// used for comparison. size is the size of an event in bytes.
func floorBroadcast(load Load, watchers, size int) func(context.Context, *Target) (*Sample, error) {
	load.Profile = ""
	return func(ctx context.Context, floor *Target) (*Sample, error) {
		publish := func(int) Request {
			stamp := `"sent":"` + now() + `"`
			return post(floorEventPath, "%s%s\n", stamp, strings.Repeat(" ", max(0, size-1-len(stamp))))
		}
		return broadcast{target: floor, watch: floorWatchPath, watchers: watchers, burst: 1, publish: publish, load: load}.run(ctx)
	}
}

// run sends bursts until the load is done. The cost includes the writes, but not opening and
// closing connections.
func (b broadcast) run(ctx context.Context) (*Sample, error) {
	b.load.Concurrency = min(b.load.Concurrency, b.burst)
	writers, err := b.load.connect(ctx, b.target)
	defer closeAll(writers)
	if err != nil {
		return nil, err
	}
	pool, err := openWatcherPool(ctx, b.target, b.watch, b.watchers)
	if err != nil {
		return nil, err
	}
	var trouble Sample
	usage := &Sample{}
	m := startMeter(b.target)
	profiled := b.load.whileProfiled(ctx, b.target, func() {
		b.send(ctx, pool, writers, m, &trouble)
		m.stop(usage)
	})
	sum := pool.close()
	m.stop(sum, trouble)
	sum.Elapsed, sum.CPU, sum.Etcd, sum.Resident = usage.Elapsed, usage.CPU, usage.Etcd, usage.Resident
	return sum, errors.Join(ctx.Err(), profiled)
}

// send sends bursts. It waits for the last delivery of each burst, which limits the events in
// flight. It returns early if no write succeeds.
func (b broadcast) send(ctx context.Context, pool *watcherPool, writers []*Conn, m *meter, trouble *Sample) {
	var delivered int64
	for n := 0; !b.load.done(n, time.Since(m.begin)) && ctx.Err() == nil; n += b.burst {
		sent := b.sendBurst(writers, n, trouble)
		if sent == 0 {
			return
		}
		delivered += sent * int64(b.watchers)
		if err := pool.await(ctx, delivered); err != nil {
			trouble.fail(err)
			return
		}
	}
}

// sendBurst sends one burst and returns the number of successful writes. first is the number of
// the first event.
func (b broadcast) sendBurst(writers []*Conn, first int, trouble *Sample) int64 {
	var (
		next, sent atomic.Int64
		mu         sync.Mutex
		group      sync.WaitGroup
	)
	for _, c := range writers {
		group.Go(func() {
			for n := int(next.Add(1)) - 1; n < b.burst; n = int(next.Add(1)) - 1 {
				if _, err := c.Call(b.publish(first + n)); err != nil {
					mu.Lock()
					trouble.fail(err)
					mu.Unlock()
					continue
				}
				sent.Add(1)
			}
		})
	}
	group.Wait()
	return sent.Load()
}
