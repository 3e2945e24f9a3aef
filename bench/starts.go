package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

const (
	emptyStarts    = 5         // repetitions, because a start takes only some ten milliseconds
	coldObjects    = 50_000    // in the store of the cold start after SIGKILL
	millionObjects = 1_000_000 // shows costs that do not scale
	// snapshotBytes is the journal size at which a daemon with default settings writes another
	// snapshot.
	snapshotBytes = 600 << 20
)

func (s *Session) start(dir string) (*Server, error) {
	return startDaemon(&s.Options, s.Binary, s.Etcd, dir)
}

func (s *Session) on(d *Server) *Session {
	other := *s
	other.Target = d.Target
	return &other
}

// coldStart measures the idle memory and the time from exec to the first successful response. It
// starts both with empty data directories, and with a large directory after SIGKILL.
func coldStart(ctx context.Context, s *Session) ([]Result, error) {
	empty, full := &Sample{}, &Sample{}
	var idle []float64
	for range emptyStarts {
		dir, remove, err := dataDir(s.TempDir)
		if err != nil {
			return nil, err
		}
		memory, err := s.measureStart(ctx, dir, "/api/v1/namespaces/default", empty)
		remove()
		if err != nil {
			return nil, err
		}
		idle = append(idle, memory)
	}
	slices.Sort(empty.Latencies)
	slices.Sort(idle)
	dir, remove, err := dataDir(s.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	objects := s.scaledSize("cold-start: objects", coldObjects)
	path, err := s.fillStore(ctx, dir, objects, crash, func(f *fixture) error { return f.fill(ctx, objects, step(f.create)) })
	if err != nil {
		return nil, err
	}
	memory, err := s.measureStart(ctx, dir, path, full)
	return []Result{
		{Name: "cold start, empty", Sample: empty, Figure: milliseconds(empty.percentile(50))},
		{Name: "memory, empty", Figure: resident(idle[len(idle)/2])},
		{Name: "cold start, full", Sample: full, Figure: milliseconds(full.percentile(50))},
		{Name: "memory, full", Figure: resident(memory)},
	}, err
}

// measureStart starts a daemon, records the time from exec to the response to a GET, and stops the
// daemon. It returns the idle memory in MiB.
func (s *Session) measureStart(ctx context.Context, dir, path string, sample *Sample) (memory float64, err error) {
	d, err := s.start(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.Target.timeRequest(path, d.programs[len(d.programs)-1].began, sample); err != nil {
		return 0, err
	}
	s.settle(ctx)
	used, err := readUsage(d.Target.Processes)
	sample.CPU += used.CPU
	sample.Resident = used.Resident
	return mebibytes(used.Resident), errors.Join(err, ctx.Err())
}

// fillStore starts a daemon, fills its store and stops the daemon by calling end. It returns the
// path of the last object, which a daemon can serve only after it has read all data.
func (s *Session) fillStore(ctx context.Context, dir string, objects int, end func(*Server) error, fill func(f *fixture) error) (path string, err error) {
	d, err := s.start(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, end(d)) }()
	f, err := s.on(d).prepare(ctx, 0)
	if err != nil {
		return "", err
	}
	f.total = objects
	if err := fill(f); err != nil {
		return "", fmt.Errorf("filling the store: %w", err)
	}
	return f.object(objects - 1), nil
}

func crash(d *Server) error {
	d.kill()
	return nil
}

// million measures a store of 1,000,000 objects. It reports the cost of filling the store, the
// memory, the longest pause in write responses during snapshots, and the startup time after
// SIGKILL.
func million(ctx context.Context, s *Session) ([]Result, error) {
	dir, remove, err := dataDir(s.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	objects := s.scaledSize("million: objects", millionObjects)
	var results []Result
	path, err := s.fillStore(ctx, dir, objects, crash, func(f *fixture) (err error) {
		results, err = f.measureMillion(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	recovered := &Sample{}
	memory, err := s.measureStart(ctx, dir, path, recovered)
	return append(results,
		Result{Name: ", recovery", Sample: recovered, Figure: milliseconds(recovered.percentile(50))},
		Result{Name: ", memory recovered", Figure: resident(memory)}), err
}

func (f *fixture) measureMillion(ctx context.Context) ([]Result, error) {
	pauses := &pauseMeter{}
	load := Load{Concurrency: f.Concurrency, Count: f.total}
	filled, err := load.drive(ctx, f.Target, pauses.watch(step(f.create)))
	if err == nil && filled.Operations < f.total {
		err = fmt.Errorf("filled %d of %d objects: %s", filled.Operations, f.total, filled.FirstError)
	}
	if err != nil {
		return nil, err
	}
	before := f.snapshotBytes()
	// A journal record has an overhead of about 400 bytes.
	load.Count = max(1, int(float64(snapshotBytes/(f.Size+400))*f.Scale))
	more, err := load.drive(ctx, f.Target, pauses.watch(step(f.put)))
	if err != nil {
		return nil, err
	}
	if f.snapshotBytes() == before {
		f.Note("million: the metrics show no snapshot during the last %d writes; the pause may be one without a snapshot", load.Count)
	}
	f.settle(ctx)
	used, err := readUsage(f.Target.Processes)
	pause := milliseconds(time.Duration(pauses.longest.Load()))
	pause.Unit += " without an answered write"
	return []Result{
		{Name: ", create", Sample: filled},
		{Name: ", update", Sample: more},
		{Name: ", pause", Figure: pause},
		{Name: ", memory", Figure: resident(mebibytes(used.Resident))},
	}, err
}

// snapshotBytes returns the size of the server's snapshots, or 0 if it is unknown. When the size
// changes, a new snapshot has been written.
func (f *fixture) snapshotBytes() float64 {
	c := f.Target.Conn()
	defer c.Close()
	all, err := scrapeMetrics(c)
	if err != nil {
		return 0
	}
	return all["troupe_snapshot_bytes"]
}

// pauseMeter finds the longest time between successful responses in any load.
type pauseMeter struct {
	last, longest atomic.Int64 // nanoseconds since epoch; nanoseconds
}

// watch returns a Step that runs step and records the times of successful responses. The time
// between two loads is not a pause.
func (p *pauseMeter) watch(step Step) Step {
	p.last.Store(0)
	return func(c *Conn, n int) (int, error) {
		p.last.CompareAndSwap(0, int64(time.Since(epoch))) // only at the first step of a load
		size, err := step(c, n)
		if err != nil {
			return size, err
		}
		now := int64(time.Since(epoch))
		pause := now - p.last.Swap(now)
		for most := p.longest.Load(); pause > most && !p.longest.CompareAndSwap(most, pause); most = p.longest.Load() {
		}
		return size, nil
	}
}
