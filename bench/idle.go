package main

import "context"

// idleWatchers measures the memory of an idle server and of each idle watch. It runs first,
// because other workloads change the memory.
func idleWatchers(ctx context.Context, f *fixture) ([]Result, error) {
	if len(f.Target.Processes) == 0 {
		f.Note("idle-watchers: no memory to read without a process ID")
		return nil, nil
	}
	f.settle(ctx)
	before, err := readUsage(f.Target.Processes)
	if err != nil {
		return nil, err
	}
	watchers := f.connections("idle-watchers", f.IdleWatchers)
	m := startMeter(f.Target)
	pool, err := f.openWatchers(ctx, f.collection(), watchers)
	if err != nil {
		return nil, err
	}
	sample := &Sample{}
	f.settle(ctx)
	m.stop(sample)
	seen := pool.close()
	sample.Errors, sample.FirstError, sample.Operations = seen.Errors, seen.FirstError, watchers-seen.Errors
	each := float64(sample.Resident-before.Resident) / 1024 / float64(watchers)
	return []Result{
		{Name: "idle", Figure: resident(mebibytes(before.Resident))},
		{Sample: sample, Figure: &Figure{Value: each, Unit: "KiB per watcher"}},
	}, ctx.Err()
}
