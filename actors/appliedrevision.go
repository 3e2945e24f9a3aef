package actors

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// appliedRevision knows the newest version up to which every collection has published, and
// lets readers wait for one. Batches are published by their collections in parallel;
// the horizon moves over a batch when all of them, and all batches before, are done.
// Its mutex guards its fields for a few instructions.
type appliedRevision struct {
	mu       sync.Mutex
	version  uint64
	batches  []*publication // in order of versions, not yet passed
	advanced chan struct{}  // closed and replaced when version moves; nil while nobody waits
}

// publication is one batch on its way into the collections.
type publication struct {
	last    uint64 // version
	pending int    // collections that have not published yet
}

func (h *appliedRevision) get() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version
}

// begin enters a batch; batches begin in the order of their versions.
func (h *appliedRevision) begin(last uint64, collections int) *publication {
	p := &publication{last: last, pending: collections}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.batches = append(h.batches, p)
	return p
}

// done says that one more collection has published its part of p.
func (h *appliedRevision) done(p *publication) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.pending--
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

// tooLargeVersionTimeout is how long a read waits for a version that is not there yet.
const tooLargeVersionTimeout = 3 * time.Second

// await waits until the horizon has reached version; briefly, for clients may ask for
// versions that will never be.
func (h *appliedRevision) await(ctx context.Context, version uint64) error {
	var timeout <-chan time.Time
	for {
		h.mu.Lock()
		current := h.version
		if current >= version {
			h.mu.Unlock()
			return nil
		}
		if h.advanced == nil {
			h.advanced = make(chan struct{})
		}
		advanced := h.advanced
		h.mu.Unlock()
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
