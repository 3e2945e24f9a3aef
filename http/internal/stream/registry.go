package stream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// A LongRunning request goes on until something ends it: a watch, or what is proxied without a deadline.
type LongRunning interface {
	// Stop ends it soon and in order. It may be called many times, by anybody.
	Stop()
	// Revoke ends it soon, and tells its client why where that can be said.
	Revoke(refusal *meta.Status)
	// ForceClose ends it at once.
	ForceClose()
}

var _ LongRunning = (*Watch)(nil)

// A Registry holds the long-running requests, by the grants that they run by. A shutdown ends them all, and
// a grant that ends takes its requests with it (reauthorize.go). fasthttp does not track the
// connections that it has given away.
type Registry struct {
	log *slog.Logger

	mu     sync.Mutex // guards the rest, and the state of grants
	grants map[authn.Digest]*Grant
	open   map[LongRunning]*Grant
	closed bool
	empty  chan struct{} // closed when closed is set and nothing is open
	// lastGeneration is that of the last look at all grants. At the same one nothing is due before
	// nextExpiry, if that is set, unless something has come to be unchecked since.
	lastGeneration uint64
	nextExpiry     time.Time
	unchecked      bool
}

// NewRegistry makes an empty registry.
func NewRegistry(log *slog.Logger) *Registry {
	return &Registry{log: log, grants: map[authn.Digest]*Grant{}, open: map[LongRunning]*Grant{}, empty: make(chan struct{})}
}

// Add registers a request, which runs by a grant: by an equal one that others run by, if there is one. The
// grant is looked at soon, for what was decided on when the request was let in may have changed since.
// It returns false after Close: there may be no new ones.
func (r *Registry) Add(w LongRunning, g *Grant) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if same := r.grants[g.Key]; same != nil {
		g = same
	} else {
		r.grants[g.Key] = g
		g.running = map[LongRunning]struct{}{}
	}
	g.checked, g.deniedOnce, r.unchecked = false, false, true
	g.running[w] = struct{}{}
	r.open[w] = g
	return true
}

// Remove forgets a request that has ended, or has never begun.
func (r *Registry) Remove(w LongRunning) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, ok := r.open[w]
	if !ok {
		return
	}
	delete(r.open, w)
	delete(g.running, w)
	if len(g.running) == 0 && r.grants[g.Key] == g {
		delete(r.grants, g.Key)
	}
	if r.closed && len(r.open) == 0 {
		close(r.empty)
	}
}

// shutdownGrace is how long clients may take to read what is on its way when the server ends.
const shutdownGrace = 5 * time.Second

// Close ends every request soon and lets no new one in.
func (r *Registry) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	all := r.openLocked()
	if len(all) == 0 {
		close(r.empty)
	}
	r.mu.Unlock()
	for _, w := range all {
		w.Stop()
	}
	time.AfterFunc(shutdownGrace, r.forceClose)
}

// forceClose ends the requests whose clients do not read.
func (r *Registry) forceClose() {
	r.mu.Lock()
	left := r.openLocked()
	r.mu.Unlock()
	for _, w := range left {
		w.ForceClose()
	}
}

func (r *Registry) openLocked() []LongRunning {
	all := make([]LongRunning, 0, len(r.open))
	for w := range r.open {
		all = append(all, w)
	}
	return all
}

// Wait waits after Close until the last one has ended.
func (r *Registry) Wait(ctx context.Context) error {
	select {
	case <-r.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
