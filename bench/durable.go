package main

import (
	"bytes"
	"context"
	"os"
	"time"
)

// durableCreate measures sequential creates by a single client, so that each create waits for its
// own sync. For comparison, it first measures bare syncs on the file system of --temp-dir.
func durableCreate(ctx context.Context, f *fixture) ([]Result, error) {
	load := f.load()
	load.Concurrency = 1
	syncs, err := measureSyncs(ctx, f.TempDir, f.Size, load)
	if err != nil {
		return nil, err
	}
	sample, err := load.drive(ctx, f.Target, step(f.create))
	if err != nil {
		return nil, err
	}
	above := milliseconds(sample.percentile(50) - syncs.percentile(50))
	if above.Unit += " above a sync"; above.Value < 0 {
		f.Note("durable-create is faster than a sync on %s: the server keeps its data elsewhere, or does not sync", f.TempDir)
	}
	return []Result{{Name: "bare sync", Sample: syncs}, {Sample: sample, Figure: above}}, nil
}

// measureSyncs repeatedly appends size bytes to a file and syncs the file. The file grows like a
// journal, because syncs of growing files are slower.
func measureSyncs(ctx context.Context, dir string, size int, load Load) (*Sample, error) {
	const most = 500 // enough for a median
	file, err := os.CreateTemp(dir, "bench-sync-")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	data, sample := bytes.Repeat([]byte("x"), size), &Sample{}
	m := startMeter(&Target{})
	for n := 0; n < most && !load.done(n, time.Since(m.begin)) && ctx.Err() == nil; n++ {
		before := time.Now()
		if _, err := file.Write(data); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		sample.record(time.Since(before), 0)
	}
	m.stop(sample)
	return sample, ctx.Err()
}
