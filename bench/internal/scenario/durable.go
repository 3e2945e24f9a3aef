package scenario

import (
	"bytes"
	"context"
	"os"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// durableCreate: one client creates objects one after the other, so that each waits for a sync of its own.
// The bare sync is measured just before, on the file system of --temp-dir. With several clients one sync
// would serve many writes, which is what the other workloads show.
func durableCreate(ctx context.Context, s *Session) ([]Result, error) {
	load := s.load()
	load.Concurrency = 1
	syncs, err := measureSyncs(ctx, s.TempDir, s.Size, load)
	if err != nil {
		return nil, err
	}
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	sample, err := load.Drive(ctx, s.Target, f.create)
	if err != nil {
		return nil, err
	}
	above := sample.Percentile(50) - syncs.Percentile(50)
	if above < 0 {
		s.Note("durable-create is faster than a sync on %s: the server keeps its data elsewhere, or does not sync", s.TempDir)
	}
	return []Result{
		{Name: "bare sync", Sample: syncs},
		{Name: "durable-create", Sample: sample, Figure: &measure.Figure{Value: measure.Milliseconds(above), Unit: "ms above a sync"}},
	}, nil
}

// measureSyncs appends size bytes to a file and syncs it, again and again. It is the least that a durable
// write can take on this disk. The file grows as a journal does, for a sync of a file that grows takes
// longer.
func measureSyncs(ctx context.Context, dir string, size int, load measure.Load) (*measure.Sample, error) {
	const most = 500 // enough for a median
	file, err := os.CreateTemp(dir, "bench-sync-")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	data, sample := bytes.Repeat([]byte("x"), size), &measure.Sample{}
	m := measure.StartMeter(&server.Target{})
	for n := 0; n < most && !load.Done(n, time.Since(m.Begin)) && ctx.Err() == nil; n++ {
		before := time.Now()
		if _, err := file.Write(data); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		sample.Operations++
		sample.Latencies = append(sample.Latencies, time.Since(before))
	}
	m.Stop(sample)
	return sample, ctx.Err()
}
