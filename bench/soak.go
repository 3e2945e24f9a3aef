package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// The soak's load. The rate is fixed, because a load that adapts to the server would hide a
// slowdown.
const (
	soakRate     = 1_000 // operations per second, far below a server's capacity
	soakObjects  = 5_000
	soakWatchers = 10 // of all writes, for the whole time
	soakClients  = 64
	soakInterval = 10 * time.Second // between samples; shorter for runs below five minutes
	soakSamples  = 30               // minimum
	soakLimit    = 30 * time.Minute // the shortest soak that can show growth
)

// soak runs all kinds of operations at a moderate rate for --duration. The number of objects is
// constant, but new objects have new names. The figure is the number of metrics that grew.
func soak(ctx context.Context, s *Session) ([]Result, error) {
	// The server ends watches after an hour, which the pool would count as an error.
	if s.Duration > time.Hour {
		return nil, fmt.Errorf("watches last an hour, and --duration is %v", s.Duration)
	}
	f, err := s.prepare(ctx, s.scaledSize("soak: objects", soakObjects))
	if err != nil {
		return nil, err
	}
	defer f.remove()
	roles, err := f.roles()
	if err != nil {
		return nil, err
	}
	watchers, err := f.openWatchers(ctx, f.collection(), soakWatchers)
	if err != nil {
		return nil, err
	}
	visits := &visits{roles: roles}
	parts := &breakdown{}
	load := Load{Concurrency: soakClients, Duration: s.Duration}
	rate := float64(s.scaledSize("soak: operations per second", soakRate))
	stop := monitor(s)
	// Include namespaces, service accounts and aborted watches, because they may leak resources.
	sample, err := load.drive(ctx, s.Target, paced(rate, mixedStep(parts, []kindOfStep{
		{"get", 60, step(f.get)},
		{"list", 10, step(f.firstChunk(mixedChunk))},
		{"update", 40, step(f.put)},
		{"patch", 30, step(f.patch)},
		{"apply", 30, step(f.apply)},
		{"replace", 20, f.createAndDelete},
		{"watch", 7, f.watchBriefly},
		{"watch to its end", 1, f.watchToItsEnd},
		{"namespace", 1, f.namespaceLifecycle},
		{"account", 1, visits.step},
	})))
	series := stop() // before the load ends
	seen := watchers.close()
	if err != nil {
		return nil, err
	}
	sample.add(&Sample{Errors: seen.Errors, FirstError: seen.FirstError})
	grown := 0
	for _, t := range series.trends() {
		s.Note("soak: %v", t)
		if t.grows() {
			grown++
		}
	}
	results := parts.results(sample)
	results[0].Figure = &Figure{Value: float64(grown), Unit: fmt.Sprintf("of %d quantities grow", len(series.Lines))}
	results[0].TimeSeries = series
	return append(results, Result{Name: ", rights", Figure: &Figure{Value: float64(visits.early.Load()), Unit: "requests refused after the answer"}}), nil
}

// monitoredMetrics lists the metrics that must not grow during a soak. The heap is also
// monitored, but comes from another endpoint.
var monitoredMetrics = []struct {
	name, series, unit string // a unit of "" means a count
	divisor            float64
}{
	{"resident memory", "process_resident_memory_bytes", "MiB", 1 << 20},
	{"history of watches", "troupe_history_bytes", "MiB", 1 << 20},
	{"journal", "troupe_journal_bytes", "MiB", 1 << 20},
	{"snapshots", "troupe_snapshot_bytes", "MiB", 1 << 20},
	{"goroutines", "go_goroutines", "", 1},
	{"descriptors", "process_open_fds", "", 1},
	{"objects", "troupe_objects", "", 1},
	{"actors", "troupe_object_actors", "", 1},
	{"watches", "troupe_watchers", "", 1},
}

// monitor samples the server periodically on a separate connection until stop is called. The first
// fifth of the run is the warm-up, during which caches and histories fill.
func monitor(s *Session) (stop func() *TimeSeries) {
	series := &TimeSeries{Name: "soak", Warm: s.Duration.Seconds() / 5}
	quit := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		c := s.Target.Conn()
		defer c.Close()
		begin := time.Now()
		ticker := time.NewTicker(min(soakInterval, s.Duration/soakSamples))
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.look(c, series, time.Since(begin))
			case <-quit:
				return
			}
		}
	})
	return func() *TimeSeries {
		close(quit)
		running.Wait()
		return series
	}
}

// look adds the current values of the monitored metrics to a series, and skips unreadable ones. It
// reads the heap after a garbage collection, because garbage would hide a leak.
func (s *Session) look(c *Conn, series *TimeSeries, at time.Duration) {
	found, err := scrapeMetrics(c)
	if err != nil {
		s.Note("soak: no metrics: %v", err)
		return
	}
	if heap, err := readHeap(c); err != nil {
		s.Note("soak: heap not known: %v", err)
	} else {
		series.add("heap in use after a collection", "MiB", at, heap/(1<<20))
	}
	for _, q := range monitoredMetrics {
		if value, ok := found.sum(q.series); ok {
			series.add(q.name, q.unit, at, value/q.divisor)
		}
	}
}

// watchBriefly is a Step that opens a watch and closes it early. Even-numbered steps wait for an
// event. The others reset the connection immediately, which a server notices only when it writes.
func (f *fixture) watchBriefly(c *Conn, n int) (int, error) {
	w, stream, err := f.watch(c, 2)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	if n%2 == 0 {
		size, err := stream.Read(make([]byte, 4<<10))
		if errors.Is(err, io.EOF) { // no event, as at the end of the load
			err = nil
		}
		return size, err
	}
	if tcp, ok := w.Net.(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn); ok {
		err = tcp.SetLinger(0)
		_ = tcp.Close()
	}
	return 0, err
}

func (f *fixture) watchToItsEnd(c *Conn, _ int) (int, error) {
	w, stream, err := f.watch(c, 1)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	n, err := io.Copy(io.Discard, stream)
	return int(n), err
}

func (f *fixture) watch(c *Conn, seconds int) (*Conn, io.Reader, error) {
	version, err := f.version(c, f.collection())
	if err != nil {
		return nil, nil, err
	}
	w := f.Target.Conn()
	stream, err := w.Watch(fmt.Sprintf("%s?watch=true&timeoutSeconds=%d&resourceVersion=%s", f.collection(), seconds, version))
	return w, stream, err
}

func (f *fixture) namespaceLifecycle(c *Conn, n int) (int, error) {
	other := *f
	other.namespace = fmt.Sprintf("%s-%d", f.namespace, n)
	size, err := calls(c, other.newNamespace(), other.create(n))
	if err != nil {
		return size, err
	}
	return size, removeAll(c, other.path(""))
}

type visits struct {
	*roles
	early atomic.Int64 // requests denied although already permitted; must stay 0
}

// step creates a service account with a binding, reads an object with its token on a new
// connection, and deletes both. The server's caches do not contain the token yet.
func (v *visits) step(c *Conn, n int) (int, error) {
	name := fmt.Sprintf("visitor-%d", n)
	target, err := v.addReader(c, name)
	if err != nil {
		return 0, err
	}
	own := target.Conn()
	defer own.Close()
	refused, err := until(context.Background(), own, v.get(n), http.StatusOK)
	v.early.Add(int64(refused))
	if err != nil {
		return 0, err
	}
	return calls(c, remove(v.rbac("rolebindings")+"/"+name), remove(v.accounts()+"/"+name))
}
