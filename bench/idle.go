package main

import (
	"context"
	"time"
)

// idleWatchers: the memory that a watch connection costs on which nothing happens.
func idleWatchers(ctx context.Context, s *Session) ([]Result, error) {
	if len(s.Target.Processes) == 0 {
		s.Note("idle-watchers: nothing to read memory from without a process id")
		return nil, nil
	}
	f, err := s.prepare(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	path, err := f.watchPath()
	if err != nil {
		return nil, err
	}
	before, err := readUsage(s.Target.Processes)
	if err != nil {
		return nil, err
	}
	watchers := s.connections("idle-watchers", s.IdleWatchers)
	m := startMeter(s.Target)
	a, err := openWatcherPool(ctx, s.Target, path, watchers, sentTime)
	if err != nil {
		return nil, err
	}
	usage := &Sample{}
	select {
	case <-time.After(s.Settle):
	case <-ctx.Done():
	}
	m.stop(usage)
	sum := a.close()
	usage.Errors, usage.FirstError = sum.Errors, sum.FirstError
	usage.Operations = watchers - sum.Errors
	perWatcher := float64(usage.Resident-before.Resident) / 1024 / float64(watchers)
	return []Result{
		{Name: "idle", Figure: &Figure{mebibytes(before.Resident), "MiB resident"}},
		{Name: "idle-watchers", Sample: usage, Figure: &Figure{perWatcher, "KiB per watcher"}},
	}, ctx.Err()
}
