package actors

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// counters are the figures that are counted for metrics.
type counters struct {
	batches, commits, batchNanos atomic.Uint64
	events, snapshotFailures     atomic.Uint64
	largestBatch, noOpApplies    atomic.Uint64
}

// batch counts one batch of the log.
func (c *counters) batch(size int, took time.Duration) {
	c.batches.Add(1)
	c.commits.Add(uint64(size))
	c.batchNanos.Add(uint64(took))
	if n := uint64(size); n > c.largestBatch.Load() {
		c.largestBatch.Store(n) // only the committer writes it
	}
}

// WriteMetrics writes the figures of store and log in the text exposition format.
func (s *Store) WriteMetrics(w io.Writer) {
	stats := s.log.Stats()
	var alive, queued, watching int
	for _, c := range s.allCollections() {
		a, q := c.activations.stats()
		alive, queued, watching = alive+a, queued+q, watching+c.watchers.size()
	}
	m := &s.metrics
	for _, f := range []struct {
		name, kind, help string
		value            float64
	}{
		{"troupe_commits_total", "counter", "Changes committed to the journal.", float64(m.commits.Load())},
		{"troupe_commit_batches_total", "counter", "Journal batches; commits divided by batches is the mean batch size.", float64(m.batches.Load())},
		{"troupe_commit_batch_size_max", "gauge", "Most changes in one journal batch since the start.", float64(m.largestBatch.Load())},
		{"troupe_commit_seconds_total", "counter", "Time spent in appending batches.", float64(m.batchNanos.Load()) / 1e9},
		{"troupe_commit_queue_depth", "gauge", "Changes that wait for the committer.", float64(s.committer.Len())},
		{"troupe_journal_sync_total", "counter", "Syncs of the journal.", float64(stats.Syncs)},
		{"troupe_journal_sync_seconds_total", "counter", "Time spent in syncs of the journal.", stats.SyncSeconds},
		{"troupe_journal_bytes", "gauge", "Size of the journal on disk.", float64(stats.JournalBytes)},
		{"troupe_journal_segments", "gauge", "Files of the journal.", float64(stats.Segments)},
		{"troupe_disk_full", "gauge", "1 while the disk is full and only deletes are accepted.", boolToFloat(stats.Full)},
		{"troupe_snapshot_bytes", "gauge", "Size of the snapshots on disk.", float64(stats.SnapshotBytes)},
		{"troupe_snapshot_failures_total", "counter", "Snapshots that could not be written.", float64(m.snapshotFailures.Load())},
		{"troupe_repeated_applies_total", "counter", "Applies that were known to change nothing, and so never reached the object's owner.", float64(m.noOpApplies.Load())},
		{"troupe_unreadable_objects", "gauge", "Stored objects that cannot be read and are set aside.", float64(s.quarantine.size.Load())},
		{"troupe_resource_version", "gauge", "Newest version that every read shows.", float64(s.appliedRevision.get())},
		{"troupe_history_limit_bytes", "gauge", "Most that may be kept for watches to go back to, of all resources together.", float64(s.retention.budget())},
		{"troupe_watchers", "gauge", "Running watches.", float64(watching)},
		{"troupe_watch_events_total", "counter", "Events delivered to watches.", float64(m.events.Load())},
		{"troupe_object_actors", "gauge", "Objects whose actors are alive.", float64(alive)},
		{"troupe_mailbox_depth", "gauge", "Messages that wait for actors of objects.", float64(queued)},
		{"troupe_actor_panics_total", "counter", "Panics of actors.", float64(s.runtime.Panics())},
		{"troupe_actor_restarts_total", "counter", "Restarts of actors by their supervisor.", float64(s.runtime.Restarts())},
	} {
		writeFamily(w, f.name, f.kind, f.help)
		metrics.WriteGaugeFloat64(w, f.name, f.value)
	}
	s.writeCollections(w)
	s.writeUnreadable(w)
}

// writeUnreadable writes a figure for each of the first objects that cannot be read.
func (s *Store) writeUnreadable(w io.Writer) {
	const name, most = "troupe_unreadable_object", 100
	writeFamily(w, name, "gauge", fmt.Sprintf("A stored object that cannot be read, and the version of its state; at most %d are named.", most))
	all := s.quarantine.all()
	for _, a := range all[:min(len(all), most)] {
		metrics.WriteGaugeUint64(w, fmt.Sprintf("%s{object=%q}", name, a.String()), a.Version)
	}
}

// writeCollections writes the figures of each collection.
func (s *Store) writeCollections(w io.Writer) {
	all := slices.SortedFunc(maps.Values(s.allCollections()), func(a, b *collection) int {
		return strings.Compare(a.storage.String(), b.storage.String())
	})
	for _, f := range []struct {
		name, kind, help string
		value            func(c *collection) float64
	}{
		{"troupe_objects", "gauge", "Stored objects by resource.",
			func(c *collection) float64 { return float64(c.published.Load().objects.Len()) }},
		{"troupe_collection_watchers", "gauge", "Running watches by resource.",
			func(c *collection) float64 { return float64(c.watchers.size()) }},
		{"troupe_history_bytes", "gauge", "What is kept for watches to go back to, by resource.",
			func(c *collection) float64 { return float64(c.history.bytes.Load()) }},
		{"troupe_turns_total", "counter", "Changes that owners of objects have worked out, refused ones too, by resource.",
			func(c *collection) float64 { return float64(c.mutations.count.Load()) }},
		{"troupe_turn_seconds_total", "counter", "Time that they took, by resource.",
			func(c *collection) float64 { return float64(c.mutations.nanos.Load()) / 1e9 }},
		{"troupe_turn_seconds_max", "gauge", "The longest of them since the start, by resource.",
			func(c *collection) float64 { return float64(c.mutations.longest.Load()) / 1e9 }},
	} {
		writeFamily(w, f.name, f.kind, f.help)
		for _, c := range all {
			metrics.WriteGaugeFloat64(w, fmt.Sprintf("%s{resource=%q}", f.name, c.storage.String()), f.value(c))
		}
	}
}

// writeFamily writes what the library leaves out: what a family of series means, and its type.
func writeFamily(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func boolToFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// mutations counts the mutations that owners of one collection's objects have computed.
type mutations struct{ count, nanos, longest atomic.Uint64 }

func (t *mutations) add(took time.Duration) {
	nanos := uint64(max(took, 0))
	t.count.Add(1)
	t.nanos.Add(nanos)
	for longest := t.longest.Load(); nanos > longest && !t.longest.CompareAndSwap(longest, nanos); {
		longest = t.longest.Load()
	}
}
