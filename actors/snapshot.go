package actors

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/troupe-api/troupe/persist"
)

// Bounds for the delay before a failed snapshot is retried. The delay doubles with each failure.
const (
	minRetryDelay = 2 * time.Second
	maxRetryDelay = time.Minute
)

// snapshotIfDue writes a snapshot when the journal has grown enough since the last one. On a full
// disk, it also trims the journal.
func (s *Store) snapshotIfDue() {
	stats := s.log.Stats()
	rewrites := s.retry.rewrites
	if s.rewrites != nil {
		rewrites = s.rewrites() // read before the snapshot, which may miss later increases
	}
	due := stats.SinceSnapshot >= s.tuning.SnapshotBytes || stats.Full && stats.SinceSnapshot > 0 || rewrites != s.retry.rewrites || s.retry.again
	if s.Healthy() != nil || time.Now().Before(s.retry.at) {
		return
	}
	if !due && !stats.Full {
		s.trimIfDue(stats)
		return
	}
	begin := time.Now()
	var err error
	if due {
		err = s.Snapshot()
	}
	if err == nil && stats.Full {
		// Running watches do not need the journal, because they resume from the history in memory.
		// After a restart, however, their clients must list again.
		err = s.log.Trim(^persist.Revision(0))
	}
	if err != nil {
		s.metrics.snapshotFailures.Add(1)
		s.retry.backOff(begin)
		if text := err.Error(); text != s.retry.lastError {
			s.retry.lastError = text
			s.logger.Error("snapshot failed; retrying", "error", err)
		}
		return
	}
	s.retry = snapshotRetry{trimmed: s.retry.trimmed, rewrites: rewrites, again: rewrites != s.retry.rewrites}
	if stats.Full {
		s.retry.at = begin.Add(minRetryDelay)
	}
	if due {
		s.logger.Info("snapshot written", "took", time.Since(begin))
	}
}

const trimPeriod = 5 * time.Second

func (s *Store) trimIfDue(stats persist.Stats) {
	if stats.Segments < 2 || time.Since(s.retry.trimmed) < trimPeriod {
		return
	}
	s.retry.trimmed = time.Now()
	if err := s.log.Trim(s.trimRevision(s.appliedRevision.get())); err != nil {
		s.logger.Warn("cannot trim the journal", "error", err)
	}
}

func (s *Store) trimRevision(at uint64) persist.Revision {
	from, promised := at+1, s.now().Add(-s.tuning.HistoryTime)
	for _, c := range s.allCollections() {
		if oldest := c.history.firstVersionSince(promised); oldest > 0 {
			from = min(from, oldest)
		}
	}
	return persist.Revision(from)
}

type snapshotRetry struct {
	at        time.Time
	wait      time.Duration
	lastError string // of the last attempt; the same text is not logged again

	trimmed  time.Time // when trimIfDue last trimmed
	rewrites uint64    // Options.Rewrites at the last snapshot
	// again requests a second snapshot after one that re-encrypts values. The first one keeps the
	// previous segment, to which a concurrent batch may have written old values.
	again bool
}

func (r *snapshotRetry) backOff(now time.Time) {
	r.wait = max(minRetryDelay, min(2*r.wait, maxRetryDelay))
	r.at = now.Add(r.wait)
}

// snapshotAtEnd writes a final snapshot if the log requests it. All actors must still be running,
// so that the snapshot includes changes by other writers.
func (s *Store) snapshotAtEnd() {
	if s.Healthy() != nil || !s.log.Stats().SnapshotAtEnd {
		return
	}
	if err := s.Snapshot(); err != nil {
		s.metrics.snapshotFailures.Add(1)
		s.logger.Warn("the final snapshot failed: the next start takes longer", "error", err)
	}
}

// Timeouts for the final snapshot and for stopping an aborted snapshot when the store closes.
const (
	maxMaintenanceAtEnd = 10 * time.Second
	lastSecond          = time.Second
)

var errBrokenOff = errors.New("it exceeded the time for closing the store")

// endMaintenance stops the periodic work and writes the final snapshot. It uses at most half of the
// time until ctx expires, because waiting requests also need time to complete. A snapshot that
// takes longer is aborted, and the next startup uses the previous one.
func (s *Store) endMaintenance(ctx context.Context) {
	close(s.stop)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.maintenance.Wait()
		s.snapshotAtEnd()
	}()
	select {
	case <-ended:
		return
	case <-time.After(halfOf(ctx, maxMaintenanceAtEnd)):
	}
	s.hurry.Store(true)
	select {
	case <-ended:
	case <-time.After(halfOf(ctx, lastSecond)):
		s.logger.Warn("the storage does not respond: abandoning periodic work")
	}
}

func halfOf(ctx context.Context, limit time.Duration) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return min(limit, time.Until(end)/2)
	}
	return limit
}

// Snapshot writes a snapshot of the newest visible version, without blocking reads or writes. Calls
// must not overlap.
func (s *Store) Snapshot() error {
	err := s.trySnapshot()
	if errors.Is(err, persist.ErrSpaceReleased) {
		err = s.trySnapshot()
	}
	return err
}

// Compact writes a snapshot and drops the part of the journal that neither recovery nor watches
// need. It blocks no other request.
func (s *Store) Compact(ctx context.Context) error {
	answer := make(chan error, 1)
	select {
	case s.compactions <- answer:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.stop:
		return errClosing()
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// compact writes a snapshot, unless nothing has changed since the last one, and trims the journal.
func (s *Store) compact() error {
	if err := s.Healthy(); err != nil {
		return err
	}
	if s.log.Stats().SinceSnapshot > 0 {
		if err := s.Snapshot(); err != nil {
			s.metrics.snapshotFailures.Add(1)
			return err
		}
	}
	return s.log.Trim(s.trimRevision(s.appliedRevision.get()))
}

// trySnapshot makes one attempt to write a snapshot. It consumes its copies of the index trees, so
// a retry must copy them again.
func (s *Store) trySnapshot() error {
	at, states, err := s.consistentTrees()
	if err != nil {
		return err
	}
	return s.log.Snapshot(persist.Revision(at), s.trimRevision(at), func(take func(persist.Item) bool) (err error) {
		yield := &mergedItems{func(i persist.Item) bool {
			if s.hurry.Load() {
				err = errBrokenOff
			}
			return err == nil && take(i)
		}, s.quarantine.all()}
		for _, prefix := range slices.Sorted(maps.Keys(states)) {
			objects := states[prefix]
			delete(states, prefix)
			if !yieldItems(objects, yield.item) {
				return err
			}
		}
		yield.rest()
		return err
	})
}

// consistentTrees returns the object indexes of all collections at the same version, keyed by the
// key prefix of the collection. If the history drops that version in the meantime, it retries with
// a newer one.
func (s *Store) consistentTrees() (at uint64, states map[string]*objectIndex, err error) {
	const tries = 10
	for range tries {
		at, states, err = s.appliedRevision.get(), make(map[string]*objectIndex), nil
		for _, c := range s.allCollections() {
			var state *snapshot
			if state, err = c.snapshotAt(at); err != nil {
				break
			}
			states[c.prefix()] = fork(state.objects)
		}
		if err == nil {
			break
		}
	}
	return at, states, err
}

// yieldItems yields each object and removes it from the index. Otherwise the index would keep old
// versions of replaced objects in memory until the snapshot is complete.
func yieldItems(objects *objectIndex, yield func(persist.Item) bool) (more bool) {
	for {
		_, o, ok := objects.PopMin()
		if !ok {
			return true
		}
		if !yield(persist.Item{Key: o.Key.String(), Value: o.JSON, Revision: persist.Revision(o.Version)}) {
			return false
		}
	}
}

// mergedItems merges unreadable objects into the items of a snapshot, ordered by key.
type mergedItems struct {
	take       func(persist.Item) bool
	unreadable []*Unreadable
}

func (m *mergedItems) item(i persist.Item) bool {
	for len(m.unreadable) > 0 && m.unreadable[0].item.Key < i.Key {
		if !m.next() {
			return false
		}
	}
	return m.take(i)
}

func (m *mergedItems) next() bool {
	a := m.unreadable[0]
	m.unreadable = m.unreadable[1:]
	return m.take(a.item)
}

func (m *mergedItems) rest() {
	for len(m.unreadable) > 0 && m.next() {
	}
}

// snapshotAt returns the state of a collection at an applied version, by undoing later changes.
func (c *collection) snapshotAt(version uint64) (*snapshot, error) {
	current := c.published.Load()
	from, ok := c.history.seek(version)
	if !ok { // even if current is older, because a change in between may have been dropped
		return nil, tooOld(version, c.history.floor.Load())
	}
	if current.version <= version {
		return current, nil
	}
	records, ok := from.read(nil, math.MaxInt, math.MaxUint64)
	if !ok {
		return nil, tooOld(version, c.history.floor.Load())
	}
	objects := fork(current.objects)
	for _, r := range slices.Backward(records) {
		if r.version > current.version {
			continue
		}
		at := path(r.object.Key.Namespace, r.object.Key.Name)
		switch {
		case r.kind == created:
			objects.Delete(at)
		case r.previous != nil && r.previous.Version > 0:
			objects.Set(at, r.previous)
		default:
			return nil, tooOld(version, c.history.floor.Load()) // recovered without the previous state
		}
	}
	return &snapshot{objects: objects, version: version}, nil
}
