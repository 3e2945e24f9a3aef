package scenario

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// What scale is measured at: the small end of what package scale computes for larger sizes. Each store has as few sizes as a
// line needs, and one more that shows whether it is a line.
var (
	scaleSizes   = []int{0, 10_000, 50_000} // objects
	scaleClients = []int{1, 8, 32, 128}
	scaleRates   = []int{500, 2_000} // updates a second
)

const (
	scalePacers = 64 // clients that share a rate
	scaleUsual  = 32 // of scaleClients, those whose own cost is measured and beside whom another daemon follows
	scaleOnDisk = "disk"
	scaleOnEtcd = "etcd"
)

// measureScale measures what a model of larger sizes is made of and checked by, on the disk and, if there is an etcd, on that:
// memory, starts and bytes with growing numbers of objects, then updates by growing numbers of clients and at fixed rates.
func measureScale(ctx context.Context, s *Session) ([]Result, error) {
	var results []Result
	for _, name := range []string{scaleOnDisk, scaleOnEtcd} {
		if name == scaleOnEtcd && s.StartEtcd == "" {
			continue
		}
		of, err := s.scaleOf(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("on %s: %w", name, err)
		}
		results = append(results, of...)
	}
	return results, nil
}

// scaleStore is a store that is measured, with the daemon that serves it. Rows are named for the store.
type scaleStore struct {
	*Session
	name    string
	dir     string
	etcd    *server.Etcd // nil on the disk
	daemon  *server.Daemon
	fixture *fixture
	results []Result
}

// scaleOf measures one store. Nothing is removed afterwards: the directory goes as a whole.
func (s *Session) scaleOf(ctx context.Context, name string) ([]Result, error) {
	dir, remove, err := server.DataDir(s.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	own := *s
	m := &scaleStore{Session: &own, name: name, dir: dir}
	if name == scaleOnEtcd {
		if m.etcd, err = server.StartEtcd(s.StartEtcd, dir+".etcd"); err != nil {
			return nil, err
		}
		defer m.etcd.Stop()
	}
	if m.daemon, err = m.start(dir); err != nil {
		return nil, err
	}
	defer func() { m.daemon.Kill() }() // the newest
	if err := m.grow(ctx); err != nil {
		return nil, err
	}
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	return m.results, ctx.Err()
}

// start starts a daemon on a data directory. Its etcd goes on when it ends.
func (m *scaleStore) start(dir string, more ...string) (*server.Daemon, error) {
	spec := m.spec(dir)
	spec.Etcd = ""
	if m.etcd != nil {
		spec.Args = append(append(slices.Clip(spec.Args), "--etcd-servers", m.etcd.URL), more...)
	}
	return spec.Start()
}

func (m *scaleStore) add(sample *measure.Sample, figure *measure.Figure, format string, args ...any) {
	m.results = append(m.results, Result{Name: "scale, " + m.name + ", " + fmt.Sprintf(format, args...), Sample: sample, Figure: figure})
}

// grow fills the store, and measures it at each size.
func (m *scaleStore) grow(ctx context.Context) (err error) {
	m.Target = m.daemon.Target
	if m.fixture, err = m.prepare(ctx, 0); err != nil {
		return err
	}
	for _, n := range scaleSizes {
		if n > 0 {
			n = m.scaledSize("scale: objects", n)
		}
		begin := m.fixture.total
		err := m.fixture.fill(ctx, n-begin, func(c *server.Conn, i int) (int, error) { return m.fixture.create(c, begin+i) })
		if err != nil {
			return err
		}
		m.fixture.total = n
		if err := m.restart(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// restart measures the store with n objects: the start of its daemon, and what it takes then. With an etcd the daemon is stopped,
// so that it leaves a copy, and another one that has none begins first. On the disk it is killed, as for a cold start.
func (m *scaleStore) restart(ctx context.Context, n int) error {
	if m.etcd == nil {
		m.daemon.Kill()
	} else {
		bytes, err := m.etcd.Bytes()
		if err != nil {
			return err
		}
		m.add(nil, &measure.Figure{Value: measure.Mebibytes(int64(bytes)), Unit: "MiB of etcd"}, "bytes, %s", measure.Plural(n, "object"))
		if err := m.daemon.Stop(); err != nil {
			return err
		}
		other, err := m.timedStart(m.dir+"-"+strconv.Itoa(n), n, "start without a copy")
		if err != nil {
			return err
		}
		other.Kill()
	}
	d, err := m.timedStart(m.dir, n, "start")
	if err != nil {
		return err
	}
	m.daemon, m.Target = d, d.Target
	select {
	case <-time.After(m.Settle):
	case <-ctx.Done():
	}
	sample := &measure.Sample{}
	memory := resident(d, sample)
	if sample.Errors > 0 {
		return fmt.Errorf("reading its memory: %s", sample.FirstError)
	}
	m.add(nil, &measure.Figure{Value: memory, Unit: "MiB resident"}, "memory, %s", measure.Plural(n, "object"))
	return ctx.Err()
}

// timedStart starts a daemon until it has answered for the last object.
func (m *scaleStore) timedStart(dir string, n int, what string) (*server.Daemon, error) {
	d, err := m.start(dir)
	if err != nil {
		return nil, err
	}
	path := "/api/v1/namespaces/default"
	if n > 0 {
		path = m.fixture.path(n - 1)
	}
	sample := &measure.Sample{}
	if err := firstRequest(d, path, sample); err != nil {
		d.Kill()
		return nil, err
	}
	m.add(nil, &measure.Figure{Value: measure.Milliseconds(sample.Percentile(50)), Unit: "ms"}, "%s, %s", what, measure.Plural(n, "object"))
	return d, nil
}

// load measures updates: as fast as growing numbers of clients get them answered, at fixed rates, and what another daemon on the
// same etcd pays for them.
func (m *scaleStore) load(ctx context.Context) error {
	if m.etcd != nil {
		m.etcd.CountWith(m.Target)
	}
	step := m.fixture.put(min(m.hotCount(), m.fixture.total))
	for _, clients := range scaleClients {
		before, err := server.ReadUsage([]int{os.Getpid()})
		if err != nil {
			return err
		}
		sample, err := m.drive(ctx, clients, step, measure.Plural(clients, "client"))
		if err != nil {
			return err
		}
		after, err := server.ReadUsage([]int{os.Getpid()})
		if err != nil {
			return err
		}
		if clients == scaleUsual {
			used := (after.CPU - before.CPU).Seconds() * 1e6 / float64(max(1, sample.Operations))
			m.add(nil, &measure.Figure{Value: used, Unit: "µs CPU of the client"}, "client")
		}
	}
	for _, rate := range scaleRates {
		timed := newTypedSamples([]operationType{{"update", 1, step}})
		sample, err := m.drive(ctx, scalePacers, paced(rate, timed.step), measure.Plural(rate, "update")+" a second")
		if err != nil {
			return err
		}
		sample.Latencies = timed.results("", sample.Elapsed)[0].Sample.Latencies // an operation waits for its time
	}
	if m.etcd == nil {
		return nil
	}
	return m.follow(ctx, step)
}

// drive drives updates and adds their row, whose figure is how many shared a commit.
func (m *scaleStore) drive(ctx context.Context, clients int, step measure.Step, name string) (*measure.Sample, error) {
	load := m.Session.load()
	load.Concurrency = clients
	before := server.MetricsOf(m.Target)
	sample, err := load.Drive(ctx, m.Target, step)
	if err != nil {
		return nil, err
	}
	after := server.MetricsOf(m.Target)
	var figure *measure.Figure
	if batches := after["troupe_commit_batches_total"] - before["troupe_commit_batches_total"]; batches > 0 {
		figure = &measure.Figure{Value: (after["troupe_commits_total"] - before["troupe_commits_total"]) / batches, Unit: "updates a commit"}
	}
	m.add(sample, figure, "%s", name)
	return sample, nil
}

// follow measures what a daemon pays for each update that another one on the same etcd is asked for, and what etcd pays for telling it.
func (m *scaleStore) follow(ctx context.Context, step measure.Step) error {
	// The first copy of another daemon would fall into the load.
	follower, err := m.start(m.dir+"-follower", "--etcd-local-copy=false")
	if err != nil {
		return err
	}
	defer follower.Kill()
	meter, cost := measure.StartMeter(follower.Target), &measure.Sample{}
	sample, err := m.drive(ctx, scaleUsual, step, "followed")
	if err != nil {
		return err
	}
	meter.Stop(cost)
	cost.Operations = sample.Operations
	m.add(cost, nil, "follower")
	return nil
}
