package main

import "context"

// The sizes of the mixed load. As in real clusters, most watchers are idle.
const (
	mixedIdle     = 10_000 // watchers of an unchanged collection
	mixedWatchers = 10     // watchers of the written collection
	mixedObjects  = 10_000
	mixedChunk    = 100 // page size of lists
)

// kindOfStep is one kind of operation in a load, with its relative frequency.
type kindOfStep struct {
	name  string
	share int
	step  Step
}

// mixedStep interleaves kinds of operations and records their latencies in a breakdown.
func mixedStep(parts *breakdown, kinds []kindOfStep) Step {
	var order []kindOfStep
	for _, kind := range kinds {
		for range kind.share {
			order = append(order, kind)
		}
	}
	// The prime stride spreads operations of the same kind. It must not divide the sum of all
	// shares, or some kinds would never run.
	const stride = 7
	return func(c *Conn, n int) (int, error) {
		kind := order[n*stride%len(order)]
		return parts.time(kind.name, func() (int, error) { return kind.step(c, n) })
	}
}

// mixed measures concurrent reads, writes and watches, plus many idle watches. The first row
// reports the total cost, including event delivery. The other rows report the latency of each
// kind of operation, for example to compare gets with the get workload.
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
