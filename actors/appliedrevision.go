package actors

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// appliedRevision knows the newest version up to which every collection has published, and
// lets readers wait for one. Batches are published by their collections in parallel;
// the version moves over a batch when all of them, and all batches before, are done.
// Its mutex guards its fields for a few instructions.
type appliedRevision struct {
	mu       sync.Mutex
	version  uint64
	batches  []*publication // in order of versions, those that are not published everywhere
	advanced chan struct{}  // closed and replaced when version moves; nil while nobody waits
}

// publication is one batch on its way into the collections.
type publication struct {
	last    uint64 // version
	pending int    // collections that have not published yet
}

func (a *appliedRevision) get() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.version
}

// begin registers a batch; batches begin in the order of their versions.
func (a *appliedRevision) begin(last uint64, collections int) *publication {
	p := &publication{last: last, pending: collections}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.batches = append(a.batches, p)
	return p
}

// done says that one more collection has published its part of p.
func (a *appliedRevision) done(p *publication) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.pending--
	before := a.version
	for len(a.batches) > 0 && a.batches[0].pending == 0 {
		a.version = a.batches[0].last
		a.batches = a.batches[1:]
	}
	if a.version != before && a.advanced != nil {
		close(a.advanced)
		a.advanced = nil
	}
}

// tooLargeVersionTimeout is how long a read waits for a version that is not there yet.
const tooLargeVersionTimeout = 3 * time.Second

// await waits until everything up to version is published; only briefly, since clients may ask for
// versions that will never be.
func (a *appliedRevision) await(ctx context.Context, version uint64) error {
	var timeout <-chan time.Time
	for {
		a.mu.Lock()
		current := a.version
		if current >= version {
			a.mu.Unlock()
			return nil
		}
		if a.advanced == nil {
			a.advanced = make(chan struct{})
		}
		advanced := a.advanced
		a.mu.Unlock()
		if timeout == nil {
			timer := time.NewTimer(tooLargeVersionTimeout)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-advanced:
		case <-timeout:
			return meta.NewTooLargeVersion(version, current)
		case <-ctx.Done():
			return meta.NewTooLargeVersion(version, current)
		}
	}
}
