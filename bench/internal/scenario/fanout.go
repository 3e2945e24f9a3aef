package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// broadcast is one way to reach many watchers: an operation is one event that reached one of them. It is
// copied for variants of a measurement, and drives a server or the floor alike.
type broadcast struct {
	target   *server.Target
	watch    string // path
	watchers int
	burst    int          // events that are sent before the next wait
	publish  measure.Step // sends one event
	load     measure.Load
}

// watchFanout: objects change while many watch. First every event is waited for at all watchers before the
// next is sent, then they come in bursts. The first is the latency of quiet times, the second the
// throughput of busy ones, in which a server can put several events into one write.
func watchFanout(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer f.remove()
	b := broadcast{target: s.Target, watchers: s.Watchers, burst: 1, publish: f.put(f.total), load: s.load()}
	if b.watch, err = f.watchPath(); err != nil {
		return nil, err
	}
	single, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	if b.watch, err = f.watchPath(); err != nil {
		return nil, err
	}
	b.load.Profile = "" // one event at a time is the load that a profile is of
	// b is copied here, before it becomes that of the bursts.
	bare := floorBroadcast(b, single.BytesPerOperation())
	b.burst = s.Burst
	bursts, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	return []Result{
		{Name: "watch-fanout", Sample: single, Floor: bare},
		{Name: "watch-fanout, bursts", Sample: bursts, Floor: bare},
	}, nil
}

// watchPath watches the collection from now on, for longer than any workload runs. It is asked for before
// each run, so that watchers see no events of the one before.
func (f *fixture) watchPath() (string, error) {
	return f.watchFrom(f.collection())
}

// watchFrom is watchPath for any collection. It watches from a version rather than from the newest state,
// so that nothing is missed in between.
func (f *fixture) watchFrom(collection string) (string, error) {
	version, err := f.version(collection)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s?watch=true&timeoutSeconds=3600&resourceVersion=%s", collection, version), nil
}

// run sends bursts until the load is done. The writes are part of the cost. Connections are opened before
// the meter starts, and it stops before they are closed.
func (b broadcast) run(ctx context.Context) (*measure.Sample, error) {
	// More writers than events of a burst would have nothing to do.
	b.load.Concurrency = min(b.load.Concurrency, b.burst)
	writers, err := b.load.Connect(ctx, b.target)
	defer func() {
		for _, c := range writers {
			c.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	a, err := openWatcherPool(ctx, b.target, b.watch, b.watchers, sentTimeFor(b.target))
	if err != nil {
		return nil, err
	}
	var trouble measure.Sample
	m := measure.StartMeter(b.target)
	usage := &measure.Sample{}
	profiled := b.load.WhileProfiled(ctx, b.target, func() {
		b.send(ctx, a, writers, m.Begin, &trouble)
		m.Stop(usage) // before the watchers leave, which is not what is measured
	})
	sum := a.close()
	sum.Add(&trouble)
	m.Stop(sum)
	sum.Elapsed, sum.Measured, sum.CPU, sum.Resident = usage.Elapsed, usage.Measured, usage.CPU, usage.Resident
	return sum, errors.Join(ctx.Err(), profiled)
}

// send alternates between a burst and the wait for its last delivery. Waiting for the slowest watcher
// bounds what is under way, so queues cannot grow without end. The workload ends when nothing is accepted
// any more, rather than wait for events that never come.
func (b broadcast) send(ctx context.Context, a *watcherPool, writers []*server.Conn, begin time.Time, trouble *measure.Sample) {
	var delivered int64
	for n := 0; !b.load.Done(n, time.Since(begin)) && ctx.Err() == nil; n += b.burst {
		sent := b.sendBurst(writers, n, trouble)
		if sent == 0 {
			return // nothing gets through any more
		}
		// Each accepted write is one event at every watcher.
		delivered += int64(sent * b.watchers)
		if err := a.await(ctx, delivered, b.target.Timeout); err != nil {
			trouble.Fail(err)
			return
		}
	}
}

// sendBurst sends one burst, beginning with the event of the given number, and returns how many of it were
// accepted. It returns when all are answered; a refused write has no event to wait for.
func (b broadcast) sendBurst(writers []*server.Conn, first int, trouble *measure.Sample) int {
	var (
		next, sent atomic.Int64
		group      sync.WaitGroup
		failures   = make([]measure.Sample, len(writers))
	)
	for i, c := range writers {
		group.Go(func() {
			for n := next.Add(1) - 1; n < int64(b.burst); n = next.Add(1) - 1 {
				if _, err := b.publish(c, first+int(n)); err != nil {
					failures[i].Fail(err)
					continue
				}
				sent.Add(1)
			}
		})
	}
	group.Wait()
	for i := range failures {
		trouble.Add(&failures[i])
	}
	return int(sent.Load())
}

// floorBroadcast sends as many bytes to as many watchers of the floor. The events are padded to the size of
// the server's, with the time in front.
func floorBroadcast(b broadcast, size int) func(context.Context, *server.Target) (*measure.Sample, error) {
	return func(ctx context.Context, floor *server.Target) (*measure.Sample, error) {
		b.target, b.watch, b.burst = floor, server.FloorWatchPath, 1
		b.publish = func(c *server.Conn, _ int) (int, error) {
			event := appendSent(make([]byte, 0, size+64))
			// Spaces up to the size, less the line end that is put behind them.
			for len(event) < size-1 {
				event = append(event, ' ')
			}
			_, err := c.Expect(http.StatusOK, http.MethodPost, server.FloorEventPath, server.TypeJSON, append(event, '\n'))
			return 0, err
		}
		return b.run(ctx)
	}
}
