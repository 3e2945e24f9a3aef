package stream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// A LongRunning is a request without a deadline, such as a watch or a proxied request.
type LongRunning interface {
	// Stop ends the request soon and gracefully. It may be called repeatedly and concurrently.
	Stop()
	// Revoke ends the request soon. It sends refusal to the client if the protocol still allows
	// this.
	Revoke(refusal *meta.Status)
	// ForceClose ends the request immediately.
	ForceClose()
}

var _ LongRunning = (*Watch)(nil)

// A Registry tracks long-running requests by grant, because fasthttp does not track hijacked
// connections. A shutdown stops all requests. If a grant becomes invalid, its requests are revoked
// (reauthorize.go).
type Registry struct {
	log *slog.Logger

	mu     sync.Mutex // guards the fields below and the state of grants
	grants map[authn.Digest]*Grant
	open   map[LongRunning]*Grant
	closed bool
	empty  chan struct{} // closed when closed is set and no request is open
	// lastGeneration is the generation of the last scan. While it is current and unchecked is
	// false, no grant is due before nextExpiry, where zero means never.
	lastGeneration uint64
	nextExpiry     time.Time
	unchecked      bool
}

// NewRegistry returns an empty Registry.
func NewRegistry(log *slog.Logger) *Registry {
	return &Registry{log: log, grants: map[authn.Digest]*Grant{}, open: map[LongRunning]*Grant{}, empty: make(chan struct{})}
}

// Add registers a request under its grant, or under an equal one that is already registered. It
// returns false after Close. The grant is rechecked soon, because decisions may have changed since
// the request was authorized.
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

// Remove unregisters an ended request.
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

// shutdownGrace is how long clients may take to read pending data during shutdown.
const shutdownGrace = 5 * time.Second

// Close stops all requests and rejects new ones.
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

// Wait blocks until all requests have ended. Call it after Close.
func (r *Registry) Wait(ctx context.Context) error {
	select {
	case <-r.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
