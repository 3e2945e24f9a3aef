package scenario

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// What the mixed load is made of. The idle ones are most watchers of a real cluster.
const (
	mixedIdle     = 10_000 // watchers of a collection in which nothing happens
	mixedWatchers = 10     // watchers of what is written
	mixedObjects  = 10_000 // objects that are read and written
	mixedChunk    = 100    // objects of one list
)

// operationType is one of the operations that a load is made of. share is out of the sum of all shares of a
// load.
type operationType struct {
	name  string
	share int
	step  measure.Step
}

// mixedOperations are the operations, and how many of twenty are of each. Reads are most of the load, as in
// clusters.
func (f *fixture) mixedOperations() []operationType {
	return []operationType{
		{"get", 13, f.get},
		{"list", 1, f.chunk(mixedChunk)},
		{"update", 3, f.put(f.total)},
		{"patch", 2, f.patch},
		{"replace", 1, f.createAndDelete},
	}
}

// mixed: reads, writes and watches at the same time, beside many idle watches. A row for each kind of
// operation has its latencies; the first has the cost of all together, in which the delivery of the events
// is counted as part of the writes. Whether one kind of operation suffers from the others shows in
// comparison with its own workload. Two namespaces are used, as idle watchers must not see what is written.
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
	sleepers, err := calm.openWatchers(ctx, idle)
	if err != nil {
		return nil, err
	}
	watchers, err := f.openWatchers(ctx, mixedWatchers)
	if err != nil {
		// The caller has not got them, so nobody else would close them.
		sleepers.close()
		return nil, err
	}
	parts := newTypedSamples(f.mixedOperations())
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, parts.step)
	seen := watchers.close()
	seen.Add(&measure.Sample{Errors: sleepers.close().Errors})
	if err != nil {
		return nil, err
	}
	slices.Sort(seen.Latencies)
	sample.Errors += seen.Errors
	results := append([]Result{{Name: "mixed", Sample: sample}}, parts.results("mixed", sample.Elapsed)...)
	seen.Elapsed = sample.Elapsed
	return append(results, Result{Name: "mixed, events", Sample: &measure.Sample{Operations: seen.Operations, Elapsed: seen.Elapsed, Latencies: seen.Latencies}}), nil
}

// openWatchers opens n watches of the objects. The events that they get are counted and timed.
func (f *fixture) openWatchers(ctx context.Context, n int) (*watcherPool, error) {
	path, err := f.watchPath()
	if err != nil {
		return nil, err
	}
	return openWatcherPool(ctx, f.session.Target, path, n, sentTimeFor(f.session.Target))
}

// createAndDelete is the Step that creates an object and deletes it again. Names are ever new, while the
// number of objects stays the same.
func (f *fixture) createAndDelete(c *server.Conn, n int) (int, error) {
	// Names above those of the objects that stay, so that nothing else reads what is deleted here.
	n += f.total
	size, err := f.create(c, n)
	if err != nil {
		return size, err
	}
	answer, err := c.Expect(http.StatusOK, http.MethodDelete, f.path(n), "", nil)
	return size + len(answer), err
}

// typedSamples tells the latencies of the kinds of operations apart. The lock is taken once for an
// operation, which is little beside the operation.
type typedSamples struct {
	types   []operationType
	order   []int // the kind of operation n is order[n % len(order)]
	mu      sync.Mutex
	samples []measure.Sample // by kind; guarded by mu
}

// newTypedSamples wants shares whose sum has no divisor in common with stride. With such shares every kind
// has its turn within one round.
func newTypedSamples(kinds []operationType) *typedSamples {
	p := &typedSamples{types: kinds, samples: make([]measure.Sample, len(kinds))}
	for i, kind := range kinds {
		for range kind.share {
			p.order = append(p.order, i)
		}
	}
	return p
}

// stride is how far apart the kinds of two operations are in their order, so that kinds take turns. A prime
// is used: without it, all operations of a kind would come in a row.
const stride = 7

// An error is returned, and counted by the load.
func (p *typedSamples) step(c *server.Conn, n int) (int, error) {
	kind := p.order[n*stride%len(p.order)]
	before := time.Now()
	size, err := p.types[kind].step(c, n)
	took := time.Since(before)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.samples[kind].Operations++
		p.samples[kind].Latencies = append(p.samples[kind].Latencies, took)
	}
	return size, err
}

// results are the rows of the kinds. Errors are counted in the row of all of them. Rows have latencies and
// no CPU time, which cannot be told apart.
func (p *typedSamples) results(name string, elapsed time.Duration) []Result {
	var results []Result
	for i, kind := range p.types {
		sample := &p.samples[i]
		sample.Elapsed = elapsed
		slices.Sort(sample.Latencies)
		results = append(results, Result{Name: name + ", " + kind.name, Sample: sample})
	}
	return results
}
