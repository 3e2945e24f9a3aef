package main

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// What the mixed load is made of.
const (
	mixedIdle     = 10_000 // watchers of a collection in which nothing happens
	mixedWatchers = 10     // watchers of what is written
	mixedObjects  = 10_000 // objects that are read and written
	mixedChunk    = 100    // objects of one list
)

// mixedKinds are the operations, and how many of twenty are of each.
var mixedKinds = []struct {
	name  string
	share int
	step  func(f *fixture) Step
}{
	{"get", 13, func(f *fixture) Step { return f.get }},
	{"list", 1, func(f *fixture) Step { return f.chunk(mixedChunk) }},
	{"update", 3, func(f *fixture) Step { return f.put(f.total) }},
	{"patch", 2, func(f *fixture) Step { return f.patch }},
	{"replace", 1, func(f *fixture) Step { return f.replace }},
}

// mixed: reads, writes and watches at the same time, beside many idle watches. A row for each kind
// of operation has its latencies; the first has the cost of all together, in which the
// delivery of the events is counted as part of the writes.
func mixed(ctx context.Context, s *Session) ([]Result, error) {
	idle := s.connections("mixed: idle watchers", s.scaled("mixed: idle watchers", mixedIdle))
	calm, err := s.prepare(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer calm.remove()
	f, err := s.prepare(ctx, s.scaled("mixed: objects", mixedObjects))
	if err != nil {
		return nil, err
	}
	defer f.remove()
	sleepers, err := calm.audience(ctx, idle)
	if err != nil {
		return nil, err
	}
	watchers, err := f.audience(ctx, mixedWatchers)
	if err != nil {
		sleepers.close()
		return nil, err
	}
	parts := newParts(f)
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, parts.step)
	seen := watchers.close()
	seen.add(&Sample{Errors: sleepers.close().Errors})
	if err != nil {
		return nil, err
	}
	slices.Sort(seen.Latencies)
	sample.Errors += seen.Errors
	results := append([]Result{{Name: "mixed", Sample: sample}}, parts.results(sample.Elapsed)...)
	seen.Elapsed = sample.Elapsed
	return append(results, Result{Name: "mixed, events", Sample: &Sample{Operations: seen.Operations, Elapsed: seen.Elapsed, Latencies: seen.Latencies}}), nil
}

// audience opens n watches of the objects.
func (f *fixture) audience(ctx context.Context, n int) (*audience, error) {
	path, err := f.watchPath()
	if err != nil {
		return nil, err
	}
	return gather(ctx, f.session.Target, path, n, sentTime)
}

// replace is the Step that creates an object and deletes it again.
func (f *fixture) replace(c *Conn, n int) (int, error) {
	n += f.total
	size, err := f.create(c, n)
	if err != nil {
		return size, err
	}
	answer, err := c.Expect(http.StatusOK, http.MethodDelete, f.path(n), "", nil)
	return size + len(answer), err
}

// parts tells the latencies of the kinds of operations apart.
type parts struct {
	steps   []Step // one of each kind
	order   []int  // the kind of operation n is order[n % len(order)]
	mu      sync.Mutex
	samples []Sample // by kind; guarded by mu
}

func newParts(f *fixture) *parts {
	p := &parts{samples: make([]Sample, len(mixedKinds))}
	for i, kind := range mixedKinds {
		p.steps = append(p.steps, kind.step(f))
		for range kind.share {
			p.order = append(p.order, i)
		}
	}
	return p
}

func (p *parts) step(c *Conn, n int) (int, error) {
	kind := p.order[n*7%len(p.order)] // 7 and 20 have no common divisor: kinds take turns
	before := time.Now()
	size, err := p.steps[kind](c, n)
	took := time.Since(before)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.samples[kind].Operations++
		p.samples[kind].Latencies = append(p.samples[kind].Latencies, took)
	}
	return size, err
}

// results are the rows of the kinds. Errors are counted in the row of all of them.
func (p *parts) results(elapsed time.Duration) []Result {
	var results []Result
	for i, kind := range mixedKinds {
		sample := &p.samples[i]
		sample.Elapsed = elapsed
		slices.Sort(sample.Latencies)
		results = append(results, Result{Name: "mixed, " + kind.name, Sample: sample})
	}
	return results
}
