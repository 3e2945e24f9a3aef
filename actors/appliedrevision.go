package actors

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// appliedRevision knows the newest version up to which every collection has published, and
// lets readers wait for one. The collections publish their parts of a batch in parallel; the
// version moves past a batch when all of them, and all batches before, are done.
// Its mutex guards its fields for a few instructions.
type appliedRevision struct {
	mu       sync.Mutex
	version  uint64
	batches  []*publication // in order of versions, those that version has not passed
	advanced chan struct{}  // closed and replaced when version moves; nil while no reader waits
}

// publication is one batch on its way into the collections.
type publication struct {
	applied *appliedRevision
	last    uint64 // the version that is applied with it
	pending int    // collections that have not published yet
}

func (a *appliedRevision) get() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.version
}

// begin registers a batch that so many collections publish; batches begin in the order of their
// versions. One that no collection publishes only moves the version.
func (a *appliedRevision) begin(last uint64, collections int) *publication {
	p := &publication{applied: a, last: last, pending: collections}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.batches = append(a.batches, p)
	if collections == 0 {
		a.advance()
	}
	return p
}

// done says that one more collection has published its part of p.
func (a *appliedRevision) done(p *publication) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.pending--
	a.advance()
}

// advance moves the version past the batches that are published. The caller holds mu.
func (a *appliedRevision) advance() {
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

// tooLargeVersionTimeout is how long a read waits for a version that is not there yet: briefly, for
// clients may ask for versions that will never be.
const tooLargeVersionTimeout = 3 * time.Second

// await waits, as a reader, until version is applied.
func (a *appliedRevision) await(ctx context.Context, version uint64) error {
	current, err := a.awaitFor(ctx, version, tooLargeVersionTimeout)
	if err != nil {
		return meta.NewTooLargeVersion(version, current)
	}
	return nil
}

var errNotApplied = errors.New("the version is not applied in time")

// awaitFor waits until version is applied, and answers the version that was applied when it stopped
// waiting.
func (a *appliedRevision) awaitFor(ctx context.Context, version uint64, most time.Duration) (current uint64, err error) {
	var timeout <-chan time.Time
	for {
		a.mu.Lock()
		current = a.version
		if current >= version {
			a.mu.Unlock()
			return current, nil
		}
		if a.advanced == nil {
			a.advanced = make(chan struct{})
		}
		advanced := a.advanced
		a.mu.Unlock()
		if timeout == nil {
			timer := time.NewTimer(most)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-advanced:
		case <-timeout:
			return current, errNotApplied
		case <-ctx.Done():
			return current, ctx.Err()
		}
	}
}
