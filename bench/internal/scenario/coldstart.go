package scenario

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// emptyStarts is how often the start on an empty store is repeated. One start takes some ten milliseconds,
// of which the operating system's part varies.
const emptyStarts = 5

// coldStart: the time from exec to the first successful request, on a fresh data directory and on one with
// many objects whose daemon was killed; and the memory of both. A kill stands for a crash: the journal has
// to be read, as nothing was closed. Memory is read after it was left alone for a while, when what the
// start needed has been collected.
func coldStart(ctx context.Context, s *Session) ([]Result, error) {
	empty, full := &measure.Sample{}, &measure.Sample{}
	idle := make([]float64, 0, emptyStarts)
	for range emptyStarts {
		resident, err := s.startEmpty(ctx, empty)
		if err != nil {
			return nil, err
		}
		idle = append(idle, resident)
	}
	slices.Sort(empty.Latencies)
	// The median of the memory, as of the time: one start may coincide with a collection of garbage.
	slices.Sort(idle)
	memory, err := s.startFull(ctx, full)
	if err != nil {
		return nil, err
	}
	return []Result{
		{Name: "cold start, empty", Sample: empty, Figure: &measure.Figure{Value: measure.Milliseconds(empty.Percentile(50)), Unit: "ms"}},
		{Name: "memory, empty", Figure: &measure.Figure{Value: idle[len(idle)/2], Unit: "MiB resident"}},
		{Name: "cold start, full", Sample: full, Figure: &measure.Figure{Value: measure.Milliseconds(full.Percentile(50)), Unit: "ms"}},
		{Name: "memory, full", Figure: &measure.Figure{Value: memory, Unit: "MiB resident"}},
	}, nil
}

// It starts with the arguments of the run, so the cold start is that of the server measured otherwise.
func (s *Session) spec(dir string) server.DaemonSpec {
	return server.DaemonSpec{Binary: s.Binary, Dir: dir, Etcd: s.StartEtcd, Naming: s.Naming, Args: s.StartArgs, Audit: s.Audit, Timeout: s.Request}
}

// startEmpty makes one start on a fresh data directory and returns the memory after it, in MiB. The request
// is for a namespace that the server makes itself, for there is nothing else.
func (s *Session) startEmpty(ctx context.Context, sample *measure.Sample) (float64, error) {
	dir, remove, err := server.DataDir(s.TempDir)
	if err != nil {
		return 0, err
	}
	defer remove()
	d, err := s.spec(dir).Start()
	if err != nil {
		return 0, err
	}
	err = firstRequest(d, "/api/v1/namespaces/default", sample)
	s.settle(ctx)
	memory := resident(d, sample)
	if stopped := d.Stop(); err == nil {
		err = stopped
	}
	if err == nil {
		err = ctx.Err()
	}
	return memory, err
}

// startFull fills a store, kills its daemon and starts it again. It returns the memory of the recovered
// daemon in MiB. The start is measured once: it is long enough to be stable, and filling the store is not
// quick.
// The time of the fill is not part of any figure.
func (s *Session) startFull(ctx context.Context, sample *measure.Sample) (float64, error) {
	dir, remove, err := server.DataDir(s.TempDir)
	if err != nil {
		return 0, err
	}
	defer remove()
	path, err := s.fillAndKill(ctx, dir)
	if err != nil {
		return 0, err
	}
	d, err := s.spec(dir).Start()
	if err != nil {
		return 0, err
	}
	err = firstRequest(d, path, sample)
	s.settle(ctx)
	memory := resident(d, sample)
	if stopped := d.Stop(); err == nil {
		err = stopped
	}
	return memory, err
}

// fillAndKill returns the path of the object that was written last. That object is asked for later, so a
// start that answers before it has read everything would fail.
func (s *Session) fillAndKill(ctx context.Context, dir string) (string, error) {
	d, err := s.spec(dir).Start()
	if err != nil {
		return "", err
	}
	// Killed and not stopped: a stop would close the journal, and leave nothing to recover.
	defer d.Kill()
	filling := *s
	filling.Target = d.Target
	f, err := filling.prepare(ctx, s.ColdObjects)
	if err != nil {
		return "", fmt.Errorf("filling the store: %w", err)
	}
	return f.path(s.ColdObjects - 1), nil
}

// firstRequest asks for one object and counts the time since exec. The daemon counts as started only when a
// client has had an answer, TLS handshake included.
func firstRequest(d *server.Daemon, path string, sample *measure.Sample) error {
	c := d.Target.Conn()
	defer c.Close()
	_, err := c.Expect(http.StatusOK, http.MethodGet, path, "", nil)
	if err != nil {
		sample.Fail(err)
		return err
	}
	took := time.Since(d.Began)
	sample.Operations++
	sample.Elapsed += took
	sample.Latencies = append(sample.Latencies, took)
	return nil
}

// resident reads the memory in MiB, and adds the CPU time since exec to the sample. Of a server of several
// processes it is the sum.
func resident(d *server.Daemon, sample *measure.Sample) float64 {
	usage, err := server.ReadUsage(d.Target.Processes)
	if err != nil {
		sample.Fail(err)
		return 0
	}
	sample.Measured = true
	sample.CPU += usage.CPU
	sample.Resident = usage.Resident
	return measure.Mebibytes(usage.Resident)
}
