package actors

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
)

type counters struct {
	batches, commits, batchNanos atomic.Uint64
	events, snapshotFailures     atomic.Uint64
	largestBatch, noOpApplies    atomic.Uint64
}

func (c *counters) batch(size int, took time.Duration) {
	c.batches.Add(1)
	c.commits.Add(uint64(size))
	c.batchNanos.Add(uint64(took))
	if n := uint64(size); n > c.largestBatch.Load() {
		c.largestBatch.Store(n) // written only by the committer
	}
}

// WriteMetrics writes the metrics of the store and its log in the Prometheus text format.
func (s *Store) WriteMetrics(w io.Writer) {
	stats := s.log.Stats()
	collections := slices.Collect(maps.Values(s.allCollections()))
	var alive, queued, watching int
	for _, c := range collections {
		a, q := c.activations.stats()
		alive, queued, watching = alive+a, queued+q, watching+c.watchers.size()
	}
	m := &s.metrics
	resource := func(c *collection) string { return fmt.Sprintf("resource=%q", c.storage.String()) }
	of := func(value func(c *collection) any) metrics.Samples { return metrics.Each(collections, resource, value) }
	metrics.Write(w,
		metrics.CounterValue("troupe_commits_total", "Changes committed to the journal.", m.commits.Load()),
		metrics.CounterValue("troupe_commit_batches_total", "Journal batches; commits divided by batches is the mean batch size.", m.batches.Load()),
		metrics.GaugeValue("troupe_commit_batch_size_max", "Maximum number of changes in a journal batch since the start.", m.largestBatch.Load()),
		metrics.CounterValue("troupe_commit_seconds_total", "Time spent appending batches.", float64(m.batchNanos.Load())/1e9),
		metrics.GaugeValue("troupe_commit_queue_depth", "Changes waiting to be committed.", s.committer.Len()),
		metrics.CounterValue("troupe_journal_sync_total", "Syncs of the journal.", stats.Syncs),
		metrics.CounterValue("troupe_journal_sync_seconds_total", "Time spent syncing the journal.", stats.SyncSeconds),
		metrics.GaugeValue("troupe_journal_bytes", "Size of the journal on disk.", stats.JournalBytes),
		metrics.GaugeValue("troupe_journal_segments", "Journal files.", stats.Segments),
		metrics.GaugeValue("troupe_disk_full", "1 while the disk is full and only deletes are accepted.", stats.Full),
		metrics.GaugeValue("troupe_snapshot_bytes", "Size of the snapshots on disk.", stats.SnapshotBytes),
		metrics.CounterValue("troupe_snapshot_failures_total", "Failed snapshots.", m.snapshotFailures.Load()),
		metrics.CounterValue("troupe_repeated_applies_total", "Repeated applies answered without a change.", m.noOpApplies.Load()),
		metrics.GaugeValue("troupe_unreadable_objects", "Unreadable stored objects.", s.quarantine.size.Load()),
		metrics.GaugeValue("troupe_resource_version", "Newest resource version visible to all reads.", s.appliedRevision.get()),
		metrics.GaugeValue("troupe_history_limit_bytes", "Maximum size of the watch history of all resources.", s.retention.budget()),
		metrics.GaugeValue("troupe_watchers", "Running watches.", watching),
		metrics.CounterValue("troupe_watch_events_total", "Events delivered to watches.", m.events.Load()),
		metrics.GaugeValue("troupe_object_actors", "Active object actors.", alive),
		metrics.GaugeValue("troupe_mailbox_depth", "Messages waiting for object actors.", queued),
		metrics.CounterValue("troupe_actor_panics_total", "Panics of actors.", s.runtime.Panics()),
		metrics.CounterValue("troupe_actor_restarts_total", "Restarts of actors by their supervisor.", s.runtime.Restarts()),
		metrics.GaugeValue("troupe_objects", "Stored objects by resource.",
			of(func(c *collection) any { return c.published.Load().objects.Len() })),
		metrics.GaugeValue("troupe_collection_watchers", "Running watches by resource.",
			of(func(c *collection) any { return c.watchers.size() })),
		metrics.GaugeValue("troupe_history_bytes", "Size of the watch history, by resource.",
			of(func(c *collection) any { return c.history.bytes.Load() })),
		metrics.CounterValue("troupe_turns_total", "Changes computed by object actors, including rejected ones, by resource.",
			of(func(c *collection) any { return c.mutations.count.Load() })),
		metrics.CounterValue("troupe_turn_seconds_total", "Time spent computing changes, by resource.",
			of(func(c *collection) any { return float64(c.mutations.nanos.Load()) / 1e9 })),
		metrics.GaugeValue("troupe_turn_seconds_max", "Longest computation of a change since the start, by resource.",
			of(func(c *collection) any { return float64(c.mutations.longest.Load()) / 1e9 })),
		metrics.GaugeValue("troupe_unreadable_object", fmt.Sprintf("A stored object that cannot be read, and the version of its state; at most %d are named.", maxUnreadable), s.unreadable()),
	)
}

// maxUnreadable limits the time series for unreadable objects, one per object.
const maxUnreadable = 100

func (s *Store) unreadable() metrics.Samples {
	all := s.quarantine.all()
	return metrics.Each(all[:min(len(all), maxUnreadable)],
		func(u *Unreadable) string { return fmt.Sprintf("object=%q", u.String()) }, func(u *Unreadable) any { return u.Version })
}

// mutations records the number and the duration of the mutations computed for one collection.
type mutations struct{ count, nanos, longest atomic.Uint64 }

func (t *mutations) add(took time.Duration) {
	nanos := uint64(max(took, 0))
	t.count.Add(1)
	t.nanos.Add(nanos)
	for longest := t.longest.Load(); nanos > longest && !t.longest.CompareAndSwap(longest, nanos); {
		longest = t.longest.Load()
	}
}
