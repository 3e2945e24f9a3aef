package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// The storm: so many clients read so many bytes at the same time. Together they ask for 4 GiB at once,
// several times what the server may hold.
const (
	stormClients = 100
	stormBytes   = 40 << 20
)

// informerStorm: every operation is one client that lists all objects in one answer and then watches, all
// clients at the same time. The figure is the server's highest memory meanwhile. It is what happens when
// many controllers start again together, as after an upgrade. A server that puts each answer together in
// memory needs all of it at the same time. The latency of a row is the time until one client is in sync,
// from the common start.
func informerStorm(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	watch, err := f.watchPath()
	if err != nil {
		return nil, err
	}
	// The list of a single object tells how many bytes one takes, and so how many objects make up the wanted size.
	first, err := f.listAndWatch(1, watch)
	if err != nil {
		return nil, err
	}
	// At least two, so that the list is not that of the single object again.
	objects := max(2, s.scaledSize("informer-storm: bytes", stormBytes)/first)
	clients := s.scaledSize("informer-storm: clients", stormClients)
	if err := f.fill(ctx, objects-1, func(c *server.Conn, n int) (int, error) { return f.create(c, n+1) }); err != nil {
		return nil, err
	}
	if watch, err = f.watchPath(); err != nil {
		return nil, err
	}
	sample := &measure.Sample{}
	var (
		mu    sync.Mutex
		group sync.WaitGroup
	)
	// The peak is sampled in the background for as long as clients are at work; its end would show less than the highest.
	m, peak := measure.StartMeter(s.Target), server.StartPeak(s.Target.Processes)
	for range clients {
		group.Go(func() {
			size, err := f.listAndWatch(objects, watch)
			took := time.Since(m.Begin)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				sample.Fail(err)
				return
			}
			sample.Operations++
			sample.Bytes += int64(size)
			sample.Latencies = append(sample.Latencies, took)
		})
	}
	group.Wait()
	m.Stop(sample)
	results := []Result{{Name: "informer-storm", Sample: sample, Figure: &measure.Figure{Value: sample.Elapsed.Seconds(), Unit: "s until all are in sync"}}}
	if highest := peak.Stop(); highest > 0 {
		results = append(results, Result{Name: "informer-storm, memory", Figure: &measure.Figure{Value: measure.Mebibytes(highest), Unit: "MiB at its peak"}})
	}
	return results, ctx.Err()
}

// listAndWatch does what a client does that keeps a copy of a collection: it lists what there is, of any
// age, then watches. It keeps nothing, and returns the size of the list in bytes. The list is streamed
// through a counter, as a hundred clients in one process could not hold them.
// The watch is not read: it counts as in sync when the server has accepted it.
func (f *fixture) listAndWatch(objects int, watch string) (int, error) {
	c := f.session.Target.Conn()
	defer c.Close()
	stream, err := c.Watch(f.collection() + "?resourceVersion=0")
	if err != nil {
		return 0, err
	}
	// A watch connection has no deadline of its own; the list must come to an end like any request.
	if err := c.Net.SetDeadline(time.Now().Add(f.session.Target.Timeout)); err != nil {
		return 0, err
	}
	items := &substringCounter{mark: itemMark(f.session.Target)}
	size, err := io.Copy(items, stream)
	switch {
	case err != nil:
		return int(size), fmt.Errorf("list of %s: %w", f.collection(), err)
	case items.n != objects:
		return int(size), fmt.Errorf("list of %s held %d objects instead of %d", f.collection(), items.n, objects)
	}
	_, err = c.Watch(watch)
	return int(size), err
}

// substringCounter counts how often a mark occurs in what is written to it. A mark may be divided by two
// writes, for which the tail is kept.
type substringCounter struct {
	mark []byte
	tail []byte // the end of what came before, shorter than the mark
	n    int
}

// Write implements io.Writer. It never fails, so the copy ends with the stream.
func (m *substringCounter) Write(p []byte) (int, error) {
	// A mark that begins in the tail ends within so many bytes of the new text, and none can lie in the tail alone.
	short := len(m.mark) - 1
	if len(p) < short {
		m.tail = append(m.tail, p...)
		m.n += bytes.Count(m.tail, m.mark)
		m.tail = bytes.Clone(m.tail[max(0, len(m.tail)-short):])
		return len(p), nil
	}
	m.n += bytes.Count(append(m.tail, p[:short]...), m.mark) + bytes.Count(p, m.mark)
	m.tail = append(m.tail[:0], p[len(p)-short:]...)
	return len(p), nil
}
