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
	last    uint64 // the version that is applied with it
	pending int    // collections that have not published yet
}

func (h *appliedRevision) get() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version
}

// begin enters a batch that so many collections publish; batches begin in the order of their
// versions. One that no collection publishes only moves the version.
func (h *appliedRevision) begin(last uint64, collections int) *publication {
	p := &publication{last: last, pending: collections}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.batches = append(h.batches, p)
	if collections == 0 {
		h.advance()
	}
	return p
}

// done says that one more collection has published its part of p.
func (h *appliedRevision) done(p *publication) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.pending--
	h.advance()
}

// advance moves the version past the batches that are published. The caller holds mu.
func (h *appliedRevision) advance() {
	before := h.version
	for len(h.batches) > 0 && h.batches[0].pending == 0 {
		h.version = h.batches[0].last
		h.batches = h.batches[1:]
	}
	if h.version != before && h.advanced != nil {
		close(h.advanced)
		h.advanced = nil
	}
}

// tooLargeVersionTimeout is how long a read waits for a version that is not there yet: briefly, for
// clients may ask for versions that will never be.
const tooLargeVersionTimeout = 3 * time.Second

// await waits, as a reader, until version is applied.
func (h *appliedRevision) await(ctx context.Context, version uint64) error {
	current, err := h.awaitFor(ctx, version, tooLargeVersionTimeout)
	if err != nil {
		return meta.NewTooLargeVersion(version, current)
	}
	return nil
}

var errNotApplied = errors.New("actors: the version is not applied in time")

// awaitFor waits until version is applied, and answers the version that was when it stopped to.
func (h *appliedRevision) awaitFor(ctx context.Context, version uint64, most time.Duration) (current uint64, err error) {
	var timeout <-chan time.Time
	for {
		h.mu.Lock()
		current = h.version
		if current >= version {
			h.mu.Unlock()
			return current, nil
		}
		if h.advanced == nil {
			h.advanced = make(chan struct{})
		}
		advanced := h.advanced
		h.mu.Unlock()
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
