package quota

import (
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/request"
)

// An epoch counts changes that have passed admission but are not stored yet. A quota that takes
// effect starts a new epoch. Once the previous epoch has drained, all changes in progress have been
// checked against the quota.
type epoch struct {
	members   atomic.Int64 // changes, plus one for the ledger while the epoch is current
	once      sync.Once
	drained   chan struct{}
	unlimited reservation // shared by changes without a quota
}

// newEpoch returns an epoch with the ledger as its first member. The ledger leaves when the epoch
// ends, so the epoch cannot drain earlier.
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

// enter adds a change to the current epoch. The change must leave the epoch later. The caller must
// not read quotas before enter returns.
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

func (l *Ledger) endEpoch() <-chan struct{} {
	e := l.epoch.Swap(newEpoch())
	e.leave()
	return e.drained
}
