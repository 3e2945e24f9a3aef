package actors

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// appliedRevision tracks the newest version that all collections have published. Collections
// publish their parts of a batch in parallel. The applied revision therefore covers a batch only
// when all parts of that batch and of all earlier batches are published.
type appliedRevision struct {
	mu       sync.Mutex
	version  uint64
	batches  []*publication // unfinished batches in order of versions
	advanced chan struct{}  // closed and replaced when version rises; nil while no reader waits
}

type publication struct {
	applied *appliedRevision
	last    uint64 // last version of the batch
	pending int    // collections that have not published yet
}

func (a *appliedRevision) get() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.version
}

// newest returns the newest version that collections have begun to publish.
func (a *appliedRevision) newest() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.batches); n > 0 {
		return a.batches[n-1].last
	}
	return a.version
}

// begin registers a batch that the given number of collections will publish. Batches must begin in
// version order.
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

func (a *appliedRevision) done(p *publication) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.pending--
	a.advance()
}

// advance raises the applied version past all published batches. The caller must hold mu.
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

// tooLargeVersionTimeout is how long a read waits for a future version. It is short because clients
// may request versions that will never exist.
const tooLargeVersionTimeout = 3 * time.Second

func (a *appliedRevision) await(ctx context.Context, version uint64) error {
	current, err := a.awaitFor(ctx, version, tooLargeVersionTimeout)
	if err != nil {
		return meta.NewTooLargeVersion(version, current)
	}
	return nil
}

var errNotApplied = errors.New("the version was not applied in time")

func (a *appliedRevision) awaitFor(ctx context.Context, version uint64, limit time.Duration) (current uint64, err error) {
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
			timer := time.NewTimer(limit)
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
