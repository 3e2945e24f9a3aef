package actors

import (
	"maps"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// snapshotIfDue writes a snapshot when the journal has grown enough since the last.
func (s *Store) snapshotIfDue() {
	if s.log.Stats().SinceSnapshot < s.tuning.SnapshotBytes || s.Healthy() != nil {
		return
	}
	begin := time.Now()
	if err := s.Snapshot(); err != nil {
		s.metrics.snapshotFailures.Add(1)
		s.logger.Error("snapshot", "error", err)
		return
	}
	s.logger.Info("snapshot written", "took", time.Since(begin))
}

// Snapshot writes the state at the newest visible version, without stopping anyone.
// It must not be called by two goroutines at a time.
func (s *Store) Snapshot() error {
	at := s.horizon.now()
	keepFrom, promised := at+1, s.now().Add(-s.tuning.HistoryTime)
	states := make(map[string]*snapshot, len(s.all()))
	for _, c := range s.all() {
		state, err := c.exactly(at)
		if err != nil {
			return err
		}
		states[c.prefix()] = state
		if oldest := c.history.since(promised); oldest > 0 {
			keepFrom = min(keepFrom, oldest)
		}
	}
	return s.log.Snapshot(persist.Revision(at), persist.Revision(keepFrom), func(yield func(persist.Item) bool) {
		for _, prefix := range slices.Sorted(maps.Keys(states)) {
			if !yieldItems(states[prefix], yield) {
				return
			}
		}
	})
}

func yieldItems(state *snapshot, yield func(persist.Item) bool) (more bool) {
	more = true
	state.scan("", "", func(_ string, o *meta.Object) bool {
		more = yield(persist.Item{Key: o.Key.String(), Value: o.JSON, Revision: persist.Revision(o.Version)})
		return more
	})
	return more
}

// exactly is the state of a collection at a version that the horizon has reached,
// found by undoing the changes since.
func (c *collection) exactly(version uint64) (*snapshot, error) {
	current := c.published.Load()
	if current.version <= version {
		return current, nil
	}
	from, ok := c.history.seek(version)
	if !ok {
		return nil, tooOld(version, c.history.floor.Load())
	}
	records, ok := from.read(nil, int(^uint(0)>>1))
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
			return nil, tooOld(version, c.history.floor.Load()) // read back without the state before
		}
	}
	return &snapshot{objects: objects, version: version}, nil
}
