package scenario

import (
	"context"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// idleWatchers: the memory that a watch connection costs on which nothing happens. It runs first of all,
// while little of the memory is that of earlier work. The process is measured as a whole, with its buffers
// for TLS. The second figure is the difference that the watches make, divided by their number.
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
	// Read before any watch is opened, and after what the start needed has been given back: the figure is the difference.
	s.settle(ctx)
	before, err := server.ReadUsage(s.Target.Processes)
	if err != nil {
		return nil, err
	}
	watchers := s.connections("idle-watchers", s.IdleWatchers)
	m := measure.StartMeter(s.Target)
	a, err := openWatcherPool(ctx, s.Target, path, watchers, sentTime)
	if err != nil {
		return nil, err
	}
	usage := &measure.Sample{}
	s.settle(ctx)
	m.Stop(usage)
	sum := a.close()
	usage.Errors, usage.FirstError = sum.Errors, sum.FirstError
	usage.Operations = watchers - sum.Errors
	// In KiB. Watches that ended early still count in the divisor, and are reported as errors.
	perWatcher := float64(usage.Resident-before.Resident) / 1024 / float64(watchers)
	return []Result{
		{Name: "idle", Figure: &measure.Figure{Value: measure.Mebibytes(before.Resident), Unit: "MiB resident"}},
		{Name: "idle-watchers", Sample: usage, Figure: &measure.Figure{Value: perWatcher, Unit: "KiB per watcher"}},
	}, ctx.Err()
}
