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

// A snapshot that fails is tried again after a delay, which doubles with each failure.
const (
	minRetryDelay = 2 * time.Second
	maxRetryDelay = time.Minute
)

// snapshotIfDue writes a snapshot when the journal has grown enough since the last one. On a full disk
// it also does what makes the journal shorter.
func (s *Store) snapshotIfDue() {
	stats := s.log.Stats()
	rewrites := s.retry.rewrites
	if s.rewrites != nil {
		rewrites = s.rewrites() // read before the snapshot, which may miss what comes while it is written
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
		// Watches resume from the history in memory. Without the journal they cannot after a restart,
		// and their clients have to list again.
		err = s.log.Trim(^persist.Revision(0))
	}
	if err != nil {
		s.metrics.snapshotFailures.Add(1)
		s.retry.backOff(begin)
		if text := err.Error(); text != s.retry.lastError {
			s.retry.lastError = text
			s.logger.Error("snapshot; it will be tried again", "error", err)
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

// trimPeriod is how often the journal before the last snapshot is trimmed.
const trimPeriod = 5 * time.Second

// trimIfDue removes the part of the journal that neither the last snapshot nor the history needs.
func (s *Store) trimIfDue(stats persist.Stats) {
	if stats.Segments < 2 || time.Since(s.retry.trimmed) < trimPeriod {
		return
	}
	s.retry.trimmed = time.Now()
	if err := s.log.Trim(s.trimRevision(s.appliedRevision.get())); err != nil {
		s.logger.Warn("the journal cannot be trimmed", "error", err)
	}
}

// trimRevision is the first revision that a history of HistoryTime needs.
func (s *Store) trimRevision(at uint64) persist.Revision {
	from, promised := at+1, s.now().Add(-s.tuning.HistoryTime)
	for _, c := range s.allCollections() {
		if oldest := c.history.firstVersionSince(promised); oldest > 0 {
			from = min(from, oldest)
		}
	}
	return persist.Revision(from)
}

// A snapshotRetry is when a snapshot that has failed is tried again.
type snapshotRetry struct {
	at        time.Time
	wait      time.Duration
	lastError string // of the last attempt; the same text is not logged again

	trimmed  time.Time // when trimIfDue last trimmed
	rewrites uint64    // Options.Rewrites that a snapshot has followed
	// again: one more snapshot is due after one that followed rewrites. A batch that was under way when that began lies in the
	// segment before it, which then stays with all that it holds.
	again bool
}

func (r *snapshotRetry) backOff(now time.Time) {
	r.wait = max(minRetryDelay, min(2*r.wait, maxRetryDelay))
	r.at = now.Add(r.wait)
}

// snapshotAtEnd writes a snapshot before the store closes, where the log asks for it. All owners still run, or what the snapshot is made of would
// be missing changes of other writers.
func (s *Store) snapshotAtEnd() {
	if s.Healthy() != nil || !s.log.Stats().SnapshotAtEnd {
		return
	}
	if err := s.Snapshot(); err != nil {
		s.metrics.snapshotFailures.Add(1)
		s.logger.Warn("the snapshot before the end could not be written: the next start takes longer", "error", err)
	}
}

// maxMaintenanceAtEnd is how long a store that closes waits for snapshots at most, and lastSecond how long for the end of one that is broken off.
const (
	maxMaintenanceAtEnd = 10 * time.Second
	lastSecond          = time.Second
)

var errBrokenOff = errors.New("it took longer than there is time for when a store closes")

// endMaintenance ends what is done once a second, with the snapshot before the end. It takes half of the time that ctx leaves: the next start can
// do without a snapshot, and those who wait for their answers cannot do without the rest. What takes longer is broken off, and leaves what was
// there before.
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
		s.logger.Warn("the disk or the store behind the log does not answer: what is done from time to time is left to itself")
	}
}

// halfOf is half of the time that ctx leaves, or most.
func halfOf(ctx context.Context, most time.Duration) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return min(most, time.Until(end)/2)
	}
	return most
}

// Snapshot writes the state at the newest visible version, without stopping anyone.
// It must not be called by two goroutines at a time.
func (s *Store) Snapshot() error {
	err := s.trySnapshot()
	if errors.Is(err, persist.ErrSpaceReleased) {
		err = s.trySnapshot()
	}
	return err
}

// Compact makes the journal as short as it can be: it writes a snapshot now, and drops all that neither recovery nor watches need
// then. Nobody waits for it but the caller.
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

// compact is the work of Compact. A snapshot that follows nothing is skipped, but the journal may have become superfluous meanwhile.
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

// trySnapshot is one attempt. What it delivers it forgets, so the next one begins with the state of its own time.
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

// consistentTrees is the index of each collection, by the prefix of its keys, at one version. While many
// write, the history may drop what that needs meanwhile; then it tries again with a newer version.
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

// yieldItems yields the objects of an index, and takes each out of it: otherwise every object that is
// replaced meanwhile would be in memory twice until the snapshot is complete.
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

// mergedItems merges the unreadable objects into the items of a snapshot, in the order of the keys.
type mergedItems struct {
	take       func(persist.Item) bool
	unreadable []*Unreadable
}

// item yields an item, after the unreadable objects before it.
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

// rest yields the unreadable objects after the last item.
func (m *mergedItems) rest() {
	for len(m.unreadable) > 0 && m.next() {
	}
}

// snapshotAt is the state of a collection at a version that has been applied, computed by undoing the
// changes since.
func (c *collection) snapshotAt(version uint64) (*snapshot, error) {
	current := c.published.Load()
	from, ok := c.history.seek(version)
	if !ok { // even if current is older: a dropped change may lie between
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
			return nil, tooOld(version, c.history.floor.Load()) // read after a restart, without the state before
		}
	}
	return &snapshot{objects: objects, version: version}, nil
}
