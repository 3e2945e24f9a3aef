package scenario

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// Sizes of what the settings are tried with. The amounts of bytes are chosen so that the smallest value of
// a setting is far exceeded.
const (
	trialWriters     = 64
	trialClients     = 1_000                 // clients who write different objects
	trialHotClients  = 150                   // clients who write the same object
	trialPause       = 20 * time.Millisecond // before a request that was answered 429 is sent again
	trialJournal     = 230 << 20             // bytes written before a crash
	trialHistory     = 160 << 20             // bytes written to fill a history
	trialIdleWatches = 4_000                 // watches on which nothing happens but bookmarks
	recordHead       = 400                   // bytes of a stored object beside its data, roughly
	mebibyte         = 1 << 20
)

// withObjects prepares objects for a measurement. Nothing is removed afterwards: the data directory goes as
// a whole.
func (t *trialServer) withObjects(ctx context.Context, objects int, measure func(f *fixture) ([]Result, error)) ([]Result, error) {
	f, err := t.prepare(ctx, objects)
	if err != nil {
		return nil, err
	}
	return measure(f)
}

// writesFor is how many writes come to a number of bytes. What a write takes in the journal is only roughly
// known, which suffices to fill it.
func (t *trialServer) writesFor(what string, bytes int) int {
	return t.scaledSize("settings: "+what, bytes/(t.Size+recordHead))
}

// resident is the memory of the server now. A process that has gone shows as 0, and the trial fails
// elsewhere.
func (t *trialServer) resident() Result {
	usage, _ := server.ReadUsage(t.Target.Processes)
	return Result{Name: "memory", Figure: &measure.Figure{Value: measure.Mebibytes(usage.Resident), Unit: "MiB resident"}}
}

// getAndUpdate: what a read and a write cost.
func (t *trialServer) getAndUpdate(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, t.hotCount(), func(f *fixture) ([]Result, error) {
		get, err := t.load().Drive(ctx, t.Target, f.get)
		if err != nil {
			return nil, err
		}
		update, err := t.load().Drive(ctx, t.Target, f.put(f.total))
		return []Result{{Name: "get", Sample: get}, {Name: "update", Sample: update}}, err
	})
}

// sequentialWrites: one client that waits for each of its writes. Its latency is that of a commit, with
// nothing to share a sync with.
func (t *trialServer) sequentialWrites(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, t.hotCount(), func(f *fixture) ([]Result, error) {
		load := t.load()
		load.Concurrency = 1
		sample, err := load.Drive(ctx, t.Target, f.put(f.total))
		if err != nil {
			return nil, err
		}
		return []Result{{Name: "update, one client", Figure: &measure.Figure{Value: measure.Milliseconds(sample.Percentile(50)), Unit: "ms per write of one client"}}}, nil
	})
}

// concurrentWrites: clients who could share syncs, if batches let them.
func (t *trialServer) concurrentWrites(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, t.hotCount(), func(f *fixture) ([]Result, error) {
		load := t.load()
		load.Concurrency = trialWriters
		sample, err := load.Drive(ctx, t.Target, f.put(f.total))
		if err != nil {
			return nil, err
		}
		return []Result{{Name: "update", Sample: sample}, p99Result("update, p99", sample)}, nil
	})
}

// p99Result is what all but one of a hundred wait at most. The median hides what a queue does to those at
// its end.
func p99Result(name string, sample *measure.Sample) Result {
	return Result{Name: name, Figure: &measure.Figure{Value: measure.Milliseconds(sample.Percentile(99)), Unit: "ms p99"}}
}

// memory: what a long load of updates leaves in memory, and costs.
func (t *trialServer) memory(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, t.hotCount(), func(f *fixture) ([]Result, error) {
		load := t.load()
		load.Count, load.Duration = t.writesFor("bytes of history", trialHistory), 0
		sample, err := load.Drive(ctx, t.Target, f.put(f.total))
		return []Result{{Name: "update", Sample: sample}, t.resident()}, err
	})
}

// watchResumption: how many changes a watcher can sleep through. The oldest version that a watch can begin
// at is found by bisection.
// Resource versions are assumed to be numbers that count changes, which is true of this server.
func (t *trialServer) watchResumption(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, t.hotCount(), func(f *fixture) ([]Result, error) {
		load := t.load()
		load.Count, load.Duration = t.writesFor("bytes of history", trialHistory), 0
		if _, err := load.Drive(ctx, t.Target, f.put(f.total)); err != nil {
			return nil, err
		}
		c := t.Target.Conn()
		defer c.Close()
		text, err := f.versionOn(c, f.collection())
		if err != nil {
			return nil, err
		}
		newest, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		// Whatever low is, a watch cannot begin there; at high it can. Each round halves what lies between.
		low, high := 1, newest-1 // gone; kept
		for low+1 < high {
			middle := (low + high) / 2
			kept, err := f.canResumeFrom(middle)
			switch {
			case err != nil:
				return nil, err
			case kept:
				high = middle
			default:
				low = middle
			}
		}
		return []Result{{Name: "changes kept", Figure: &measure.Figure{Value: float64(newest - high), Unit: "changes kept"}}, t.resident()}, nil
	})
}

// canResumeFrom tells whether a watch can begin at a version. A server may refuse by status, or by the
// first event.
func (f *fixture) canResumeFrom(version int) (bool, error) {
	w := f.session.Target.Conn()
	defer w.Close()
	stream, err := w.Watch(fmt.Sprintf("%s?watch=true&timeoutSeconds=5&resourceVersion=%d", f.collection(), version))
	if err != nil {
		// Refused by status: the version is too old. Any other error is one of the trial.
		if strings.Contains(err.Error(), "status 410") {
			return false, nil
		}
		return false, err
	}
	first, err := bufio.NewReader(stream).ReadBytes('\n')
	return err == nil && !bytes.HasPrefix(first, []byte(`{"type":"ERROR"`)), err
}

// idleWatches: what bookmarks cost. It is a share of a core, as there is no operation to relate it to.
func (t *trialServer) idleWatches(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, 1, func(f *fixture) ([]Result, error) {
		path, err := f.watchPath()
		if err != nil {
			return nil, err
		}
		// The limit of open files may allow fewer; the unit of the figure names the actual number.
		watchers := t.connections("settings: quiet watches", t.scaledSize("settings: quiet watches", trialIdleWatches))
		a, err := openWatcherPool(ctx, t.Target, path+"&allowWatchBookmarks=true", watchers, countOnly)
		if err != nil {
			return nil, err
		}
		defer a.close()
		// Opening the watches is over by now, so its cost is not part of the figure.
		before, err := server.ReadUsage(t.Target.Processes)
		if err != nil {
			return nil, err
		}
		select {
		case <-time.After(t.Duration):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		after, err := server.ReadUsage(t.Target.Processes)
		share := 100 * (after.CPU - before.CPU).Seconds() / t.Duration.Seconds()
		return []Result{{Name: "bookmarks", Figure: &measure.Figure{Value: share, Unit: "% of a core for " + measure.Plural(watchers, "quiet watcher")}}}, err
	})
}

// retrier is a step that is sent again, after a pause, as often as it is answered 429. That is how client
// libraries behave, though with pauses that the server tells them.
type retrier struct{ refused atomic.Int64 }

// There is no limit to repetitions but that of the run.
func (i *retrier) put(f *fixture) measure.Step {
	return func(c *server.Conn, n int) (int, error) {
		n %= f.total
		for {
			status, answer, err := c.Do(http.MethodPut, f.path(n), server.TypeJSON, f.object(n))
			switch {
			case err != nil:
				return 0, err
			case status == http.StatusOK:
				return len(answer), nil
			case status != http.StatusTooManyRequests:
				return 0, server.WrongStatus(http.MethodPut, f.path(n), status, http.StatusOK, answer)
			}
			i.refused.Add(1)
			time.Sleep(trialPause)
		}
	}
}

// driveRetrying drives clients that do not give up, and tells how many of their requests were refused. The
// latency is that of the client, repetitions and pauses included.
// The share of refusals is of all answers, so a client that is refused often counts often.
func (t *trialServer) driveRetrying(ctx context.Context, f *fixture, clients int) ([]Result, error) {
	load := t.load()
	load.Concurrency = clients
	i := &retrier{}
	sample, err := load.Drive(ctx, t.Target, i.put(f))
	if err != nil {
		return nil, err
	}
	refused := float64(i.refused.Load())
	return []Result{
		{Name: "refused", Figure: &measure.Figure{Value: 100 * refused / max(1, refused+float64(sample.Operations)), Unit: "% answered 429"}},
		p99Result("p99 with repetitions", sample),
		{Name: "rate", Figure: &measure.Figure{Value: sample.Rate(), Unit: "writes/s"}},
	}, nil
}

// manyClients: more clients than may be served at once.
func (t *trialServer) manyClients(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, t.hotCount(), func(f *fixture) ([]Result, error) {
		return t.driveRetrying(ctx, f, t.connections("settings: clients", t.scaledSize("settings: clients", trialClients)))
	})
}

// manyClientsOfOneObject: more clients than fit into the queue of one object.
func (t *trialServer) manyClientsOfOneObject(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, 1, func(f *fixture) ([]Result, error) {
		return t.driveRetrying(ctx, f, t.scaledSize("settings: clients of one object", trialHotClients))
	})
}

// recovery: the start after a crash, when much was written before. The metrics are read before the kill,
// when the disk holds what the start will find. The daemon is started again with the same value, over the
// same directory.
func (t *trialServer) recovery(ctx context.Context) ([]Result, error) {
	return t.withObjects(ctx, t.hotCount(), func(f *fixture) ([]Result, error) {
		load := t.load()
		load.Count, load.Duration = t.writesFor("bytes of journal", trialJournal), 0
		sample, err := load.Drive(ctx, t.Target, f.put(f.total))
		if err != nil {
			return nil, err
		}
		// The metrics must be read while the process that wrote the files still runs.
		found := server.MetricsOf(t.Target)
		// The process has no chance to write anything more, as in a crash.
		t.daemon.Kill()
		again, err := t.spec.Start()
		if err != nil {
			return nil, err
		}
		t.daemon = again
		start := &measure.Sample{}
		err = firstRequest(again, f.path(0), start)
		disk := (found["troupe_journal_bytes"] + found["troupe_snapshot_bytes"]) / mebibyte
		return []Result{
			{Name: "update", Sample: sample},
			{Name: "disk", Figure: &measure.Figure{Value: disk, Unit: "MiB on disk"}},
			{Name: "start", Figure: &measure.Figure{Value: measure.Milliseconds(start.Percentile(50)), Unit: "ms to the first answer after kill -9"}},
		}, err
	})
}
