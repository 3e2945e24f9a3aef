package main

import "context"

// The mixed load. Idle watchers are most watchers of a real cluster.
const (
	mixedIdle     = 10_000 // watchers of a collection in which nothing happens
	mixedWatchers = 10     // watchers of what is written
	mixedObjects  = 10_000 // objects that are read and written
	mixedChunk    = 100    // objects of one list
)

// kindOfStep is one of the kinds of operations of a load, which has share of them.
type kindOfStep struct {
	name  string
	share int
	step  Step
}

// mixedStep runs kinds of operations in turns and adds their latencies to a breakdown.
func mixedStep(parts *breakdown, kinds []kindOfStep) Step {
	var order []kindOfStep
	for _, kind := range kinds {
		for range kind.share {
			order = append(order, kind)
		}
	}
	// The prime keeps operations of a kind apart. It must not divide the sum of all shares.
	const stride = 7
	return func(c *Conn, n int) (int, error) {
		kind := order[n*stride%len(order)]
		return parts.time(kind.name, func() (int, error) { return kind.step(c, n) })
	}
}

// mixed: reads, writes and watches at the same time, beside many idle watches. The first row has
// the cost of everything, with the delivery of events; one for each kind of operation has its
// latencies, which compare with those of its own workload.
func mixed(ctx context.Context, s *Session) ([]Result, error) {
	idle := s.connections("mixed: idle watchers", s.scaledSize("mixed: idle watchers", mixedIdle))
	calm, err := s.prepare(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer calm.remove()
	f, err := s.prepare(ctx, s.scaledSize("mixed: objects", mixedObjects))
	if err != nil {
		return nil, err
	}
	defer f.remove()
	sleepers, err := calm.openWatchers(ctx, calm.collection(), idle)
	if err != nil {
		return nil, err
	}
	defer sleepers.close()
	watchers, err := f.openWatchers(ctx, f.collection(), mixedWatchers)
	if err != nil {
		return nil, err
	}
	parts := &breakdown{}
	sample, err := s.load().drive(ctx, s.Target, mixedStep(parts, []kindOfStep{
		{"get", 13, step(f.get)},
		{"list", 1, step(f.firstChunk(mixedChunk))},
		{"update", 3, step(f.put)},
		{"patch", 2, step(f.patch)},
		{"replace", 1, f.createAndDelete},
	}))
	events := &Sample{}
	startMeter(&Target{}).stop(events, *watchers.close())
	if err != nil {
		return nil, err
	}
	events.Elapsed = sample.Elapsed
	sample.Errors += sleepers.close().Errors
	return append(parts.results(sample), Result{Name: ", events", Sample: events}), nil
}
