package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// What the soak is made of. The rate is fixed, for a load that follows the server would hide a server that
// becomes slower.
const (
	soakRate        = 1_000 // operations per second, far below what a server can do
	soakObjects     = 5_000
	soakWatchers    = 10 // of all that is written, for the whole time
	soakClients     = 64
	maxSoakInterval = 10 * time.Second // between two looks; shorter in a run of less than five minutes
	soakSamples     = 30               // at least
)

// soakOperations are the operations, and how many of two hundred are of each. Namespaces, accounts and
// broken watches are there for what they leave behind: caches by name, goroutines and connections.
func (r *roles) soakOperations() []operationType {
	f := r.fixture
	return []operationType{
		{"get", 60, f.get},
		{"list", 10, f.chunk(mixedChunk)},
		{"update", 40, f.put(f.total)},
		{"patch", 30, f.patch},
		{"apply", 30, f.apply},
		{"replace", 20, f.createAndDelete},
		{"watch", 7, f.watchBriefly},
		{"watch to its end", 1, f.shortWatch},
		{"namespace", 1, f.namespaceLifecycle},
		{"account", 1, r.accountLifecycle},
	}
}

// soak: all kinds of operations at a rate that the server bears easily, for as long as --duration says,
// over a number of objects that stays the same under names that are ever new. What the server has must not
// become more. The figure is how many quantities have grown. Names that never come again are what a map
// that forgets nothing grows by.
func soak(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.scaledSize("soak: objects", soakObjects))
	if err != nil {
		return nil, err
	}
	defer f.remove()
	r, err := f.roles()
	if err != nil {
		return nil, err
	}
	path, err := f.watchPath()
	if err != nil {
		return nil, err
	}
	// The server would end the watches after an hour, and the pool takes an early end for a fault.
	if s.Duration > time.Hour {
		return nil, fmt.Errorf("watches last an hour, and --duration is %v", s.Duration)
	}
	watchers, err := openWatcherPool(ctx, s.Target, path, soakWatchers, countOnly)
	if err != nil {
		return nil, err
	}
	load := measure.Load{Concurrency: soakClients, Duration: s.Duration}
	parts := newTypedSamples(r.soakOperations())
	look := startSoakMonitor(s)
	sample, err := load.Drive(ctx, s.Target, paced(s.scaledSize("soak: operations per second", soakRate), parts.step))
	// The monitor ends before the watchers do, so that no look falls into the time in which load is taken away.
	series := look.stop()
	seen := watchers.close()
	if err != nil {
		return nil, err
	}
	results := parts.results("soak", sample.Elapsed)
	sample.Errors += seen.Errors
	if sample.FirstError == "" {
		sample.FirstError = seen.FirstError
	}
	// Load.Drive has timed whole steps, each with its wait for its turn.
	sample.Latencies = nil // the pauses are in them
	for _, r := range results {
		sample.Latencies = append(sample.Latencies, r.Sample.Latencies...)
	}
	slices.Sort(sample.Latencies)
	grown := 0
	for _, t := range series.Trends() {
		s.Note("soak: %v", t)
		if t.Grows() {
			grown++
		}
	}
	first := Result{Name: "soak", Sample: sample, Figure: &measure.Figure{Value: float64(grown), Unit: fmt.Sprintf("of %d quantities grow", len(series.Lines))}, TimeSeries: series}
	early := Result{Name: "soak, rights", Figure: &measure.Figure{Value: float64(r.early.Load()), Unit: "requests refused after the answer"}}
	return append(append([]Result{first}, results...), early), nil
}

// paced makes a step wait until its turn has come at a rate per second. A step that comes late is run at
// once, so the rate is made up for.
func paced(rate int, step measure.Step) measure.Step {
	begin := sync.OnceValue(time.Now)
	return func(c *server.Conn, n int) (int, error) {
		// Steps are numbered in the order in which clients take them, so the number alone says when one is due.
		time.Sleep(time.Until(begin().Add(time.Duration(n) * time.Second / time.Duration(rate))))
		return step(c, n)
	}
}

// soakMonitor is a look at the server from time to time. It has a connection of its own, whose cost is part
// of the server's.
type soakMonitor struct {
	session *Session
	period  time.Duration
	series  *measure.TimeSeries // the looker's until it has ended
	quit    chan struct{}
	running sync.WaitGroup
}

// The first fifth of the time is warm-up, in which caches and histories fill.
func startSoakMonitor(s *Session) *soakMonitor {
	l := &soakMonitor{
		session: s, period: min(maxSoakInterval, s.Duration/soakSamples), quit: make(chan struct{}),
		series: &measure.TimeSeries{Name: "soak", Warm: s.Duration.Seconds() / 5},
	}
	l.running.Go(l.run)
	return l
}

// stop ends it and returns what it has seen.
func (l *soakMonitor) stop() *measure.TimeSeries {
	close(l.quit)
	l.running.Wait()
	return l.series
}

// A look that takes longer than the period delays the next one.
func (l *soakMonitor) run() {
	c := l.session.Target.Conn()
	defer c.Close()
	begin := time.Now()
	ticker := time.NewTicker(l.period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.sample(c, time.Since(begin))
		case <-l.quit:
			return
		}
	}
}

// monitoredMetrics are what must not grow, beside the heap. What grows with load, as counters do, is not
// among them.
var monitoredMetrics = []struct {
	name, series, unit string // no unit: a number of what the name says
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

// sample is one of them. What the server does not tell has no line. The heap is read after a collection, or
// garbage would hide what is held.
// A failed look is noted and left out of the series; the trend is over those that there are.
func (l *soakMonitor) sample(c *server.Conn, at time.Duration) {
	found, err := server.ScrapeMetrics(c)
	if err != nil {
		l.session.Note("soak: no metrics: %v", err)
		return
	}
	if heap, err := server.ReadHeap(c); err != nil {
		l.session.Note("soak: heap not known: %v", err)
	} else {
		l.series.Add("heap in use after a collection", "MiB", at, heap/(1<<20))
	}
	for _, q := range monitoredMetrics {
		if value, ok := found.Sum(q.series); ok {
			l.series.Add(q.name, q.unit, at, value/q.divisor)
		}
	}
}

// apply is the Step that applies one of the objects, of which one value changes. The same manager applies
// each time, so nothing is in conflict.
func (f *fixture) apply(c *server.Conn, n int) (int, error) {
	path := f.path(n%f.total) + "?fieldManager=bench&force=true"
	answer, err := c.Expect(http.StatusOK, http.MethodPatch, path, server.TypeApplyPatch, f.object(n%f.total))
	return len(answer), err
}

// watchBriefly is the Step that opens a watch of the objects and goes away: every other time when an event
// has come or its time is over, else at once and without a word. The second way resets the connection,
// which a server notices only when it writes.
func (f *fixture) watchBriefly(c *server.Conn, n int) (int, error) {
	w, stream, err := f.watch(c, 2*time.Second)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	if n%2 == 0 {
		size, err := stream.Read(make([]byte, 4<<10))
		if errors.Is(err, io.EOF) { // nothing has happened in its time, as when the load ends
			err = nil
		}
		return size, err
	}
	if tcp, ok := w.Net.(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn); ok {
		err = tcp.SetLinger(0)
		_ = tcp.Close() // resets the connection
	}
	return 0, err
}

// shortWatch is the Step that watches until the server ends the watch. A server must let go of all that a
// watch had also when it ends the watch itself.
func (f *fixture) shortWatch(c *server.Conn, _ int) (int, error) {
	w, stream, err := f.watch(c, time.Second)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	n, err := io.Copy(io.Discard, stream)
	return int(n), err
}

// watch begins a watch of the objects on a connection of its own. Its version is read on the connection of
// the caller, which may be used again at once.
func (f *fixture) watch(c *server.Conn, timeout time.Duration) (*server.Conn, io.Reader, error) {
	version, err := f.versionOn(c, f.collection())
	if err != nil {
		return nil, nil, err
	}
	w := f.session.Target.Conn()
	stream, err := w.Watch(fmt.Sprintf("%s?watch=true&timeoutSeconds=%.0f&resourceVersion=%s", f.collection(), timeout.Seconds(), version))
	return w, stream, err
}

// namespaceLifecycle is the Step that makes a namespace with an object in it and removes both. The server
// empties the namespace, with whatever its controller keeps of it.
func (f *fixture) namespaceLifecycle(c *server.Conn, n int) (int, error) {
	// The copy differs only in its namespace. The fixture itself is used by other clients at the same time.
	other := *f
	other.namespace = fmt.Sprintf("%s-%d", f.namespace, n)
	if err := other.addNamespace(c); err != nil {
		return 0, err
	}
	size, err := other.create(c, n)
	if err != nil {
		return size, err
	}
	return size, removeAll(c, other.namespacePath())
}

// accountLifecycle is the Step that makes an account, gives it rights, asks with its token on a connection
// of its own, and removes account and rights. Every token is a new one for the server's caches.
func (r *roles) accountLifecycle(c *server.Conn, n int) (int, error) {
	f, name := r.fixture, fmt.Sprintf("visitor-%d", n)
	if err := f.addAccount(c, name); err != nil {
		return 0, err
	}
	if _, err := r.create(c, name, f.subject(name)); err != nil {
		return 0, err
	}
	token, err := r.token(c, name)
	if err != nil {
		return 0, err
	}
	own := f.session.Target.As(nil, token).Conn()
	defer own.Close()
	// A refusal after the binding was answered is counted as early, which must stay zero.
	refused, _, err := r.allowed(context.Background(), own, f.path(n%f.total))
	r.early.Add(int64(refused))
	if err != nil {
		return 0, err
	}
	for _, path := range []string{r.path("rolebindings") + "/" + name, f.accounts() + "/" + name} {
		if _, err := c.Expect(http.StatusOK, http.MethodDelete, path, "", nil); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
