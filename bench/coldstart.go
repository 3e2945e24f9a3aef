package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// emptyStarts is how often the start on an empty store is repeated.
const emptyStarts = 5

// coldStart: the time from exec to the first successful request, on a fresh data directory and on
// one with many objects whose daemon was killed; and the memory of both.
func coldStart(ctx context.Context, s *Session) ([]Result, error) {
	empty, full := &Sample{}, &Sample{}
	idle := make([]float64, 0, emptyStarts)
	for range emptyStarts {
		resident, err := s.startEmpty(ctx, empty)
		if err != nil {
			return nil, err
		}
		idle = append(idle, resident)
	}
	slices.Sort(empty.Latencies)
	slices.Sort(idle)
	memory, err := s.startFull(ctx, full)
	if err != nil {
		return nil, err
	}
	return []Result{
		{Name: "cold start, empty", Sample: empty, Figure: &Figure{milliseconds(empty.Percentile(50)), "ms"}},
		{Name: "memory, empty", Figure: &Figure{idle[len(idle)/2], "MiB resident"}},
		{Name: "cold start, full", Sample: full, Figure: &Figure{milliseconds(full.Percentile(50)), "ms"}},
		{Name: "memory, full", Figure: &Figure{memory, "MiB resident"}},
	}, nil
}

func (s *Session) spec(dir string) daemonSpec {
	return daemonSpec{binary: s.Binary, dir: dir, naming: s.Naming, args: s.StartArgs, audit: s.Audit, timeout: s.Request}
}

// startEmpty makes one start on a fresh data directory and returns the memory after it, in MiB.
func (s *Session) startEmpty(ctx context.Context, sample *Sample) (float64, error) {
	dir, remove, err := dataDir(s.TempDir)
	if err != nil {
		return 0, err
	}
	defer remove()
	d, err := s.spec(dir).start()
	if err != nil {
		return 0, err
	}
	err = d.firstRequest("/api/v1/namespaces/default", sample)
	select {
	case <-time.After(s.Settle):
	case <-ctx.Done():
	}
	memory := d.resident(sample)
	if stopped := d.Stop(); err == nil {
		err = stopped
	}
	if err == nil {
		err = ctx.Err()
	}
	return memory, err
}

// startFull fills a store, kills its daemon and starts it again. It returns the memory of the
// recovered daemon in MiB.
func (s *Session) startFull(ctx context.Context, sample *Sample) (float64, error) {
	dir, remove, err := dataDir(s.TempDir)
	if err != nil {
		return 0, err
	}
	defer remove()
	path, err := s.fillAndKill(ctx, dir)
	if err != nil {
		return 0, err
	}
	d, err := s.spec(dir).start()
	if err != nil {
		return 0, err
	}
	err = d.firstRequest(path, sample)
	select {
	case <-time.After(s.Settle):
	case <-ctx.Done():
	}
	memory := d.resident(sample)
	if stopped := d.Stop(); err == nil {
		err = stopped
	}
	return memory, err
}

// fillAndKill returns the path of the object that was written last.
func (s *Session) fillAndKill(ctx context.Context, dir string) (string, error) {
	d, err := s.spec(dir).start()
	if err != nil {
		return "", err
	}
	defer d.Kill()
	filling := *s
	filling.Target = d.Target
	f, err := filling.prepare(ctx, s.ColdObjects)
	if err != nil {
		return "", fmt.Errorf("filling the store: %w", err)
	}
	return f.path(s.ColdObjects - 1), nil
}

// firstRequest asks for one object and counts the time since exec.
func (d *Daemon) firstRequest(path string, sample *Sample) error {
	c := d.Target.Conn()
	defer c.Close()
	_, err := c.Expect(http.StatusOK, http.MethodGet, path, "", nil)
	if err != nil {
		sample.fail(err)
		return err
	}
	took := time.Since(d.Began)
	sample.Operations++
	sample.Elapsed += took
	sample.Latencies = append(sample.Latencies, took)
	return nil
}

// resident reads the memory in MiB, and adds the CPU time since exec to the sample.
func (d *Daemon) resident(sample *Sample) float64 {
	usage, err := readUsage(d.Target.Processes)
	if err != nil {
		sample.fail(err)
		return 0
	}
	sample.Measured = true
	sample.CPU += usage.CPU
	sample.Resident = usage.Resident
	return mebibytes(usage.Resident)
}
