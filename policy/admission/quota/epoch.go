package quota

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/request"
)

// An epoch counts the changes that have been let pass and are not stored yet. When a quota comes into force,
// another epoch begins; once the one before has drained, no change is under way any more that the
// quota was not asked about.
type epoch struct {
	members   atomic.Int64 // changes, and the ledger itself while the epoch lasts
	once      sync.Once
	drained   chan struct{}
	unlimited reservation // of each change that no quota limits
}

// The first member is the epoch itself, which leaves when it ends: it cannot drain before.
func newEpoch() *epoch {
	e := &epoch{drained: make(chan struct{})}
	e.members.Store(1)
	e.unlimited.Reservation = request.Reservation{OnCommit: e.leave, OnRelease: e.leave}
	return e
}

func (e *epoch) leave() {
	if e.members.Add(-1) == 0 {
		e.once.Do(func() { close(e.drained) })
	}
}

// enter is the epoch that a change belongs to, which has to leave it. What the change is asked about
// after it has entered are the quotas of that epoch, or later ones.
func (l *Ledger) enter() *epoch {
	for {
		e := l.epoch.Load()
		e.members.Add(1)
		if l.epoch.Load() == e {
			return e
		}
		e.leave()
	}
}

// endEpoch begins another epoch, and returns what is closed when the one before has drained.
func (l *Ledger) endEpoch() <-chan struct{} {
	e := l.epoch.Swap(newEpoch())
	e.leave()
	return e.drained
}
