package scenario

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// millionObjects is how many objects the store of million holds. It is not the size that the server is
// meant for, but where what does not scale shows.
const millionObjects = 1_000_000

// snapshotBytes is how much is written to make a server with the settings of its first start take one
// snapshot more, and then some. The first start takes a snapshot after 256 MiB of journal.
const snapshotBytes = 600 << 20

// million: a store of 1,000,000 objects on a server of its own: what filling it costs, memory, the longest
// pause between two answered writes while snapshots are taken, and the start after kill -9. It runs only if
// it is named, as it takes minutes and gigabytes. The server is killed rather than stopped, so what is
// measured is recovery.
func million(ctx context.Context, s *Session) ([]Result, error) {
	dir, remove, err := server.DataDir(s.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	objects := s.scaledSize("million: objects", millionObjects)
	results, path, err := s.fillMillion(ctx, dir, objects)
	if err != nil {
		return nil, err
	}
	d, err := s.spec(dir).Start()
	if err != nil {
		return nil, err
	}
	recovered := &measure.Sample{}
	err = firstRequest(d, path, recovered)
	s.settle(ctx)
	memory := resident(d, recovered)
	if stopped := d.Stop(); err == nil {
		err = stopped
	}
	if err != nil {
		return nil, err
	}
	return append(results,
		Result{Name: "million, recovery", Sample: recovered, Figure: &measure.Figure{Value: measure.Milliseconds(recovered.Percentile(50)), Unit: "ms"}},
		Result{Name: "million, memory recovered", Figure: &measure.Figure{Value: memory, Unit: "MiB resident"}}), ctx.Err()
}

// fillMillion fills the store, goes on writing until a snapshot of all of it has been taken, and kills the
// server. It returns the path of one object. A pause that only shows while everything is written out as a
// whole would be missed without a snapshot.
// The fill must succeed as a whole: a figure of fewer objects would pass for one of a million.
func (s *Session) fillMillion(ctx context.Context, dir string, objects int) ([]Result, string, error) {
	d, err := s.spec(dir).Start()
	if err != nil {
		return nil, "", err
	}
	defer d.Kill()
	own := *s
	own.Target = d.Target
	f, err := own.prepare(ctx, 0)
	if err != nil {
		return nil, "", err
	}
	pauses := &pauseMeter{}
	all := measure.Load{Concurrency: s.Concurrency, Count: objects}
	filled, err := all.Drive(ctx, d.Target, pauses.watch(f.create))
	if err != nil {
		return nil, "", err
	}
	if filled.Operations < objects {
		return nil, "", fmt.Errorf("filled %d of %d objects: %s", filled.Operations, objects, filled.FirstError)
	}
	// The size of the snapshots changes when one more has been taken.
	before := snapshots(d.Target)
	// A write takes its size and roughly 400 bytes around it in the journal.
	all.Count = max(1, int(float64(snapshotBytes/(s.Size+400))*s.Scale))
	more, err := all.Drive(ctx, d.Target, pauses.watch(f.put(objects)))
	if err != nil {
		return nil, "", err
	}
	if after := snapshots(d.Target); after == before {
		s.Note("million: the metrics show no snapshot during the last %d writes; the pause may be one without a snapshot", all.Count)
	}
	s.settle(ctx)
	usage, err := server.ReadUsage(d.Target.Processes)
	if err != nil {
		return nil, "", err
	}
	return []Result{
		{Name: "million, create", Sample: filled},
		{Name: "million, update", Sample: more},
		{Name: "million, pause", Figure: &measure.Figure{Value: measure.Milliseconds(pauses.longest()), Unit: "ms without an answered write"}},
		{Name: "million, memory", Figure: &measure.Figure{Value: measure.Mebibytes(usage.Resident), Unit: "MiB resident"}},
	}, f.path(objects - 1), nil
}

// snapshots is what the metrics of a server say of its snapshots; 0 if nothing. Another server has no such
// metric, and the note then says so.
func snapshots(target *server.Target) float64 {
	return server.MetricsOf(target)["troupe_snapshot_bytes"]
}

// pauseMeter watches how much time passes between answers, whoever gets them. One counter serves all
// clients: what matters is whether anybody is answered.
type pauseMeter struct {
	last, most atomic.Int64 // nanoseconds since epoch; nanoseconds
}

// watch is step, of whose successes the times are noted. What passes between two loads is no pause,
// because the first answer of a load is compared with its own beginning.
func (p *pauseMeter) watch(step measure.Step) measure.Step {
	p.last.Store(0)
	return func(c *server.Conn, n int) (int, error) {
		// Only the first step of a load succeeds in this; it is what the first answer is compared with.
		p.last.CompareAndSwap(0, int64(time.Since(epoch)))
		size, err := step(c, n)
		if err != nil {
			return size, err
		}
		now := int64(time.Since(epoch))
		pause := now - p.last.Swap(now)
		for most := p.most.Load(); pause > most && !p.most.CompareAndSwap(most, pause); most = p.most.Load() {
		}
		return size, nil
	}
}

// It covers both loads.
// longest is the longest time in which no client had an answer.
func (p *pauseMeter) longest() time.Duration { return time.Duration(p.most.Load()) }
